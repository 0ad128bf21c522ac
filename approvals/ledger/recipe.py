"""The text of `VERIFY.md`, with which a receipt is checked by openssl and a POSIX shell alone.

The text is part of the format: `verify` accepts only published texts. To change it, add a new one to `PUBLISHED` and
keep the old, or bundles already exported would be refused.
"""

# ruff: noqa: E501 - the recipe's lines are commands
from __future__ import annotations

VERIFY_MD = r"""# Checking this receipt without our software

You need a POSIX shell and openssl 3. First compare `receipt.vkey` and `log.vkey` with the keys that the sender publishes
elsewhere: the files in this bundle prove nothing by themselves. Then unpack the bundle, go into its folder, and run the three
blocks in order. A receipt in `linked/` is checked in the same way with its own two files.

## 1. The receipt is signed

```sh
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" receipt.dsse.json; }
pem() { { printf '\060\052\060\005\006\003\053\145\160\003\041\000'; cut -d+ -f3- "$1" | openssl base64 -d -A | tail -c 32; } | openssl pkey -pubin -inform DER -out "$2"; }
tmp=$(mktemp -d)
field payload | openssl base64 -d -A > "$tmp/statement.json"
{ printf 'DSSEv1 28 application/vnd.in-toto+json %d ' "$(wc -c < "$tmp/statement.json")"; cat "$tmp/statement.json"; } > "$tmp/pae"
field sig | openssl base64 -d -A > "$tmp/sig"
pem receipt.vkey "$tmp/receipt.pem"
openssl pkeyutl -verify -pubin -inkey "$tmp/receipt.pem" -rawin -in "$tmp/pae" -sigfile "$tmp/sig"
```

`$tmp/statement.json` is what was signed. Read its `predicateType` and `subject` yourself.

## 2. The checkpoint is signed

```sh
sed '1,/^$/d' receipt.tlog-proof > "$tmp/checkpoint"
head -n 3 "$tmp/checkpoint" > "$tmp/head"
origin=$(head -n 1 "$tmp/head")
grep -F "$(printf '\342\200\224 ')$origin " "$tmp/checkpoint" | head -n 1 | sed 's/.* //' | openssl base64 -d -A | tail -c 64 > "$tmp/headsig"
pem log.vkey "$tmp/log.pem"
openssl pkeyutl -verify -pubin -inkey "$tmp/log.pem" -rawin -in "$tmp/head" -sigfile "$tmp/headsig"
```

## 3. The receipt lies in the signed ledger

```sh
sha() { openssl dgst -sha256 -binary; }
sed -n 's/^extra //p' receipt.tlog-proof | openssl base64 -d -A > "$tmp/leaf"
grep -q "$(openssl dgst -sha256 -r receipt.dsse.json | cut -c 1-64)" "$tmp/leaf" || echo "The ledger entry is for another receipt."
{ printf '\000'; cat "$tmp/leaf"; } | sha > "$tmp/r"
fn=$(sed -n 's/^index //p' receipt.tlog-proof)
sn=$(($(sed -n 2p "$tmp/head") - 1))
for step in $(sed -n '/^index /,/^$/p' receipt.tlog-proof | sed '1d;/^$/d'); do
  printf '%s' "$step" | openssl base64 -d -A > "$tmp/p"
  if [ $((fn & 1)) -eq 1 ] || [ "$fn" -eq "$sn" ]; then
    { printf '\001'; cat "$tmp/p" "$tmp/r"; } | sha > "$tmp/n"
    while [ $((fn & 1)) -eq 0 ] && [ "$fn" -ne 0 ]; do fn=$((fn >> 1)); sn=$((sn >> 1)); done
  else
    { printf '\001'; cat "$tmp/r" "$tmp/p"; } | sha > "$tmp/n"
  fi
  mv "$tmp/n" "$tmp/r"; fn=$((fn >> 1)); sn=$((sn >> 1))
done
[ "$sn" -eq 0 ] && [ "$(openssl base64 -A < "$tmp/r")" = "$(sed -n 3p "$tmp/head")" ] && echo "In the ledger" || echo "Not in the ledger"
```

Files in `evidence/` are named by the SHA-256 of their content: `openssl dgst -sha256 evidence/*`. Files in `linked/` are named
by the SHA-256 of the statement inside.
"""

PUBLISHED = frozenset({VERIFY_MD})
