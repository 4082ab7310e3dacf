"""Tables that a hostile or broken writer may leave behind: made by changing what engines wrote, and walked by every verb.

``make fuzz`` explores for `FUZZ_SECONDS` (600); with `FUZZ_SEED` the cases come in the same order again. First come the
systematic cases, each place of each document with each hostile value, and between them those of chance. A case that fails by
a cause that the corpus does not have is kept in `tests/fuzz/corpus`: the change that makes it and the step that shows it, a
few hundred bytes of JSON. It ends with 1 where there is one, and with its figures in any case.

``python -m tests.fuzz tests/fuzz/corpus/NAME.json`` replays one and shows what fails, with the traceback. After the fix
the file stays: `test_corpus.py` replays all of them. To add a case by hand write such a file (see `recipes.py`; the values
are named in `hostile.py`, the changes in `mutate.py`) and replay it.

============================  =========================================================================================
`recipes` `hostile`           a case as data; what is put in
`mutate` `avro_edits`         changes by what a file is made of
`choose`                      the systematic cases, and those of chance
`walk` `commands`             every public verb as a named step; what is a failure
`child` `parent`              the process that walks, guarded and limited, and the one that replaces it
`known`                       causes that are being worked on
`beside`                      a writer beside readers, by hand: it needs pyiceberg
============================  =========================================================================================

``make test`` runs a fixed part, the same every time: `test_fixed`, `test_corpus`, `test_file_system`, `test_poisoned`,
`test_secrets`, and `test_harness`, which plants faults that the harness has to find. Growth in memory and time of small
files is the matter of `test_bombs*`.
"""
