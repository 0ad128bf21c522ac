"""The receipt ledger's pure parts: formats, proofs and checks. Nothing here reads or writes the database.

A receipt is an in-toto Statement (`statement`) signed as a DSSE envelope (`dsse`); a small commitment to the envelope
is a leaf of an RFC 6962 tree (`merkle`); the tree's head is a C2SP checkpoint (`note`), kept outside the database too
(`head_file`); leaf, path and checkpoint travel as a C2SP tlog-proof (`tlog_proof`) in an export (`bundle`) that
anybody can check offline (`verify`).
"""
