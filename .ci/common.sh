# Functions shared by the steps of CI; read by bash, in the project's directory.
set -euo pipefail

# Says that something was not done, so that nobody overlooks it.
loud() { printf '\n************************************************************\n%s\n************************************************************\n' "$1"; }

# Removes what no later step uses, unless the user keeps it for another run.
remove() { [ -z "${WORK_IS_TEMPORARY-}" ] || rm -rf "$@"; }

# README's command of this name (`build`, `test`): the block behind `<!-- NAME -->`.
readme_command() {
    sed -n "/^<!-- $1 -->\$/,/^\`\`\`\$/p" README.md | sed -n '/^```sh$/,/^```$/p' | sed '1d;$d'
}

# Runs a test that needs the network or artifacts, and says loudly where it could not run.
networked() {
    local name=$1 status=0
    shift
    "$@" || status=$?
    [ "$status" != 77 ] || loud "$name NOT RUN: see the reason above"
    return "$status"
}

# The same for one of several: `status` gets the worst result (a failure, otherwise 77 for a step that could not run).
also() {
    local code=0
    networked "$@" || code=$?
    [ "$code" = 77 ] && [ "$status" != 0 ] || [ "$code" = 0 ] || status=$code
}
