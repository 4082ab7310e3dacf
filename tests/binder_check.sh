#!/usr/bin/env bash
# What Binder does with this repository, on this machine, in a throw-away home: `postBuild`, then `start` with the explorer
# asked for behind Jupyter's proxy and every notebook run and compared, Maven's repository and everything else of the network out of reach.
#
#     tests/binder_check.sh [NOTEBOOK…]        all notebooks by default; minutes, and a gigabyte on disk
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
away=$(mktemp -d)
trap 'rm -rf "$away"' EXIT
git clone --quiet . "$away/repository"
mkdir "$away/home"
python3 -m venv "$away/environment"
cd "$away/repository"
export HOME="$away/home" PATH="$away/environment/bin:$PATH"
unset LAKELENS_CACHE XDG_CACHE_HOME JAVA_HOME
# as `make notebooks` does: how far a slow machine is, is no result
export LAKELENS_PROGRESS=0
unset LAKELENS_STATE XDG_STATE_HOME

echo "binder: postBuild"
binder/postBuild

echo "binder: start, without a network"
# a port where nobody listens: whatever asks for a package or a jar fails at once
nowhere="http://127.0.0.1:9"
export http_proxy=$nowhere https_proxy=$nowhere HTTP_PROXY=$nowhere HTTPS_PROXY=$nowhere ALL_PROXY=$nowhere no_proxy=127.0.0.1,localhost
export JAVA_TOOL_OPTIONS="-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=9 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=9"
binder/start python -m tests.jupyter.ask_proxy notebooks
notebooks=("${@:-notebooks}")
binder/start python -m pytest --nbval --nbval-current-env --nbval-sanitize-with notebooks/sanitize.cfg -p no:cacheprovider "${notebooks[@]}"
echo "binder: the notebooks ran with nothing but what postBuild had fetched"
