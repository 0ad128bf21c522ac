from tests.github.fixtures import github, judge

__all__ = ["github", "judge"]
