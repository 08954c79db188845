#!/usr/bin/env bash
# Prints the path of a Chromium. Where there is none it installs the distribution's package, or says why it cannot.
# KINETOSCOPE_BROWSER names one that is not on the path.
set -euo pipefail

find_browser() {
    local name
    for name in "${KINETOSCOPE_BROWSER:-}" chromium chromium-browser google-chrome-stable google-chrome; do
        # Ubuntu's chromium-browser may be a stub that only asks for snap, so it has to answer.
        if [[ -n $name ]] && command -v "$name" >/dev/null && "$name" --version >/dev/null 2>&1; then
            command -v "$name"
            return 0
        fi
    done
    return 1
}

install_browser() {
    command -v apt-get >/dev/null || return 1
    local root=()
    if [[ $(id -u) != 0 ]]; then
        command -v sudo >/dev/null && sudo -n true 2>/dev/null || return 1
        root=(sudo -n)
    fi
    echo "browser: none found, installing the distribution's chromium" >&2
    {
        "${root[@]}" apt-get update &&
            "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium fonts-dejavu-core
    } >&2
}

find_browser && exit 0
if install_browser && find_browser; then exit 0; fi
cat >&2 <<'END'
browser: error: the browser tests need Chromium or Chrome; none was found and none could be installed.
browser: Install your distribution's package by hand (Debian: apt-get install chromium),
browser: or set KINETOSCOPE_BROWSER to the path of one.
END
exit 1
