"""Tables that a hostile or broken writer may leave behind: made by changing what engines wrote, and walked by every verb.

``make fuzz`` explores for `FUZZ_SECONDS` (600); with `FUZZ_SEED` the cases come in the same order again. First come the
systematic cases, each place of each document with each hostile value, and between them those of structure and of chance.
A case that fails by a cause that the corpus does not have is kept in `tests/fuzz/corpus`: the change that makes it and the
step that shows it, a few hundred bytes of JSON. It ends with 1 where there is one, and with its figures in any case: how
many cases and steps each kind had, and what they took. `--course NAME` and `--subject NAME` explore one kind alone.

``python -m tests.fuzz tests/fuzz/corpus/NAME.json`` replays one and shows what fails, with the traceback. After the fix
the file stays: `test_corpus.py` replays all of them. To add a case by hand write such a file (see `recipes.py`; the values
are named in `hostile.py`, the changes in `mutate.py`) and replay it.

============================  =========================================================================================
`recipes` `hostile`           a case as data; what is put in
`mutate` `avro_edits`         changes by what a file is made of
`choose`                      the systematic cases, and those of chance
`structure`                   cases of structure by subject, each in a module of its own: how to add one is said there
`pairs` `documents`           two documents that disagree: a list and its manifest, a branch and main, a schema and files
`column_edits`                a value, type, column, field id, row or key-value of Parquet and ORC
`row_edits`                   a BinaryRow of Paimon by slot
`names` `counts`              odd names of files, directories, refs and tables; ten thousand of anything
`walk` `commands`             every public verb as a named step; what is a failure
`courses`                     what else is done with a table, each in a module of its own: how to add one is said there
`child` `parent`              the process that walks, guarded and limited, and the one that replaces it
`known`                       causes that are being worked on
`rare`                        the slow steps: skeleton, page, site, plots; a sixth of the cases
`twice`                       the same questions in another order
`remote`                      the same table behind a web server, a bucket or a catalog that lies
`copies` `gone_on`            a copy beside its original; a table that goes on while it is open
`paged`                       all kinds of pages of the explorer, and a site of them
`beside`                      a writer beside readers, at the end of each exploration where pyiceberg is installed
============================  =========================================================================================

``make test`` runs a fixed part, the same every time: `test_fixed`, `test_structure`, `test_corpus`, `test_file_system`,
`test_poisoned`, `test_secrets`, and `test_harness`, which plants faults that the harness has to find. Growth in memory and
time of small files is the matter of `test_bombs*`.
"""
