#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# published.py, where there is a Python: another driver's system may have none.
#
# Usage: as published.py's
set -euo pipefail
command -v python3 >/dev/null || {
    echo "skipped: there is no python3" >&2
    exit 77
}
exec python3 "$(dirname "$0")/published.py" "$@"
