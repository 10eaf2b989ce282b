#!/usr/bin/env bash
# Finds what this project runs on: JDK 25, Maven, the TornadoVM SDK and its devices.
#
#   ./tornado-env.sh      says what is there, and how to get what is not
#   . ./tornado-env.sh    exports JAVA_HOME, TORNADOVM_HOME and PATH (bash or zsh)
#
# ./transformers and .ci/run take their functions from here (". tornado-env.sh functions"): this file is the only place that
# knows where JDKs and SDKs live. It runs on bash 3.2, and starts a process only where a file or a builtin cannot tell.

if [ "${BASH_SOURCE[0]:-}" != "$0" ] && [ "${1:-}" != functions ]; then
  eval "$(bash "${BASH_SOURCE[0]:-$0}" exports)"
  return
fi

# The JVM takes arguments, file names and variables in the locale's encoding, and falls back to ASCII where the locale is not
# installed or one of its categories is not. Theirs is UTF-8, whatever the user's locale is. (On macOS it always is.)
tt_use_utf8() {
  case ${OSTYPE:-} in darwin*) return ;; esac
  # bash warns of a locale that the system lacks
  { export LC_ALL=C.UTF-8; } 2> /dev/null
}

# Sets TT_JDK_VERSION to the version of the JDK in folder $1; fails if there is no JDK.
tt_read_jdk() {
  TT_JDK_VERSION=''
  [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] || return 1
  local line
  if [ -r "$1/release" ]; then
    while IFS= read -r line || [ -n "$line" ]; do
      case $line in
        JAVA_VERSION=*)
          line=${line#*\"}
          TT_JDK_VERSION=${line%%\"*}
          ;;
      esac
    done < "$1/release"
  fi
  if [ -z "$TT_JDK_VERSION" ]; then
    line=$("$1/bin/java" -version 2>&1) || return 1
    line=${line#*\"}
    TT_JDK_VERSION=${line%%\"*}
  fi
  [ -n "$TT_JDK_VERSION" ]
}

# Takes the folder $1, found by way of $2, as TT_JDK if it holds a JDK 25; else adds it to TT_JDK_SEEN.
tt_try_jdk() {
  if ! tt_read_jdk "$1"; then
    [ "$2" != JAVA_HOME ] || TT_JDK_SEEN="$TT_JDK_SEEN  JAVA_HOME=$1 holds no JDK
"
    return 1
  fi
  case $TT_JDK_VERSION in
    25 | 25.* | 25-* | 25+*)
      TT_JDK=$1
      TT_JDK_FROM=$2
      return 0
      ;;
  esac
  TT_JDK_SEEN="$TT_JDK_SEEN  $TT_JDK_VERSION in $1 ($2)
"
  return 1
}

# Sets TT_TARGET to the file behind $1, through any number of links.
tt_follow_links() {
  TT_TARGET=$1
  local link
  while [ -L "$TT_TARGET" ]; do
    link=$(readlink "$TT_TARGET")
    case $link in
      /*) TT_TARGET=$link ;;
      *) TT_TARGET=${TT_TARGET%/*}/$link ;;
    esac
  done
}

# Sets TT_JDK, TT_JDK_VERSION and TT_JDK_FROM; where there is no JDK 25, fails and leaves what was seen in TT_JDK_SEEN.
tt_find_jdk() {
  TT_JDK='' TT_JDK_FROM='' TT_JDK_SEEN=''
  local java home
  if [ -n "${JAVA_HOME:-}" ] && tt_try_jdk "${JAVA_HOME%/}" JAVA_HOME; then
    return 0
  fi
  if java=$(command -v java); then
    tt_follow_links "$java"
    case $TT_TARGET in
      */bin/java) tt_try_jdk "${TT_TARGET%/bin/java}" "java on PATH" && return 0 ;;
    esac
  fi
  for home in /usr/lib/jvm/* "${SDKMAN_DIR:-${HOME:-~}/.sdkman}"/candidates/java/* "${HOME:-~}"/.jdks/* \
    /Library/Java/JavaVirtualMachines/*/Contents/Home "${HOME:-~}"/Library/Java/JavaVirtualMachines/*/Contents/Home \
    /opt/homebrew/opt/openjdk@25/libexec/openjdk.jdk/Contents/Home /opt/*j[dv][km]* /opt/java/* /usr/java/* \
    /usr/local/*jdk* "${HOME:-~}"/*jdk*; do
    tt_try_jdk "$home" "looked in ${home%/*}" && return 0
  done
  if [ -x /usr/libexec/java_home ] && home=$(/usr/libexec/java_home -F -v 25 2> /dev/null); then
    tt_try_jdk "$home" "macOS java_home" && return 0
  fi
  return 1
}

# Sets TT_MAVEN to mvn, if one that is new enough for the build is on PATH, else to the project's own in folder $1, which fetches
# Maven once. TT_MAVEN_SEEN says what of mvn was seen. It starts Maven (0.3 s): only for builds.
tt_find_maven() {
  local version
  TT_MAVEN=$1/mvnw TT_MAVEN_SEEN='none on PATH'
  command -v mvn > /dev/null || return 0
  version=$(JAVA_HOME=${TT_JDK:-${JAVA_HOME:-}} mvn -B -v 2> /dev/null < /dev/null)
  version=${version#*Apache Maven }
  version=${version%%[!0-9.]*}
  TT_MAVEN_SEEN="$(command -v mvn) is ${version:-of no known version}, and 3.8 is needed"
  case $version in
    "" | [0-2].* | 3.[0-7] | 3.[0-7].*) ;;
    *) TT_MAVEN=mvn ;;
  esac
}

# Prints how to get JDK 25.
tt_jdk_help() {
  cat << 'END'
  SDKMAN:          sdk install java 25-tem
  Debian, Ubuntu:  apt-get install temurin-25-jdk    (Adoptium's package source), or openjdk-25-jdk where it exists
  Fedora:          dnf install java-25-openjdk-devel
  macOS:           brew install --cask temurin@25
If it is in an unusual folder, set JAVA_HOME to it.
END
}

# Sets TT_SDK_VERSION and TT_SDK_BACKENDS from the SDK in folder $1; fails if there is none.
tt_read_sdk() {
  TT_SDK_VERSION='' TT_SDK_BACKENDS=''
  [ -x "$1/bin/tornado" ] && [ -d "$1/share/java/tornado" ] || return 1
  local line
  if [ -r "$1/etc/tornado.release" ]; then
    while IFS= read -r line || [ -n "$line" ]; do
      case $line in version=*) TT_SDK_VERSION=${line#version=} ;; esac
    done < "$1/etc/tornado.release"
  fi
  if [ -r "$1/etc/tornado.backend" ]; then
    while IFS= read -r line || [ -n "$line" ]; do
      case $line in tornado.backends=*) TT_SDK_BACKENDS=${line#tornado.backends=} ;; esac
    done < "$1/etc/tornado.backend"
    TT_SDK_BACKENDS=${TT_SDK_BACKENDS//-backend/}
    TT_SDK_BACKENDS=${TT_SDK_BACKENDS//,/ }
  fi
}

# Sets TT_SDK, TT_SDK_VERSION, TT_SDK_BACKENDS and TT_SDK_FROM; fails if no SDK is found.
tt_find_sdk() {
  TT_SDK='' TT_SDK_FROM=''
  local sdk tornado
  if [ -n "${TORNADOVM_HOME:-}" ]; then
    TT_SDK_FROM=TORNADOVM_HOME
    tt_read_sdk "${TORNADOVM_HOME%/}" || return 1
    TT_SDK=${TORNADOVM_HOME%/}
    return 0
  fi
  if tornado=$(command -v tornado); then
    tt_follow_links "$tornado"
    if tt_read_sdk "${TT_TARGET%/bin/tornado}"; then
      TT_SDK=${TT_TARGET%/bin/tornado}
      TT_SDK_FROM="tornado on PATH"
      return 0
    fi
  fi
  for sdk in "${SDKMAN_DIR:-${HOME:-~}/.sdkman}/candidates/tornadovm/current" "${HOME:-~}/.tornadovm" "${HOME:-~}"/.tornadovm/*/ \
    /opt/tornadovm* "${HOME:-~}"/tornadovm-*; do
    if tt_read_sdk "${sdk%/}"; then
      TT_SDK=${sdk%/}
      TT_SDK_FROM="looked in ${TT_SDK%/*}"
      return 0
    fi
  done
  return 1
}

# Sets TT_ACCELERATORS to what says that a GPU or an accelerator may be here: device nodes, and OpenCL's list of drivers.
# Fails if there is none of the former. (TT_DEV is for tests: another folder than /dev.)
tt_find_accelerators() {
  local node found='' dev=${TT_DEV:-/dev}
  TT_ACCELERATORS=''
  for node in "$dev"/nvidia[0-9]* "$dev"/dri/renderD* "$dev"/kfd "$dev"/dxg "$dev"/xclmgmt* \
    /System/Library/Frameworks/Metal.framework; do
    [ ! -e "$node" ] || found="$found $node"
  done
  for node in "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/*.icd; do
    [ ! -e "$node" ] || TT_ACCELERATORS="$TT_ACCELERATORS $node"
  done
  TT_ACCELERATORS="$found$TT_ACCELERATORS"
  [ -n "$found" ]
}

# Sets TT_PINNED_SDK to the TornadoVM version that the project is built for: pom.xml, in folder $1, knows it.
tt_read_pinned_sdk() {
  local line
  TT_PINNED_SDK=''
  while IFS= read -r line; do
    case $line in
      *"<tornado.version>"*)
        line=${line#*>}
        TT_PINNED_SDK=${line%%<*}
        return 0
        ;;
    esac
  done < "$1/pom.xml"
}

# Prints how to get the SDK of version $1.
tt_sdk_help() {
  cat << END
  SDKMAN:   sdk install tornadovm $1-opencl        (or -ptx, -cuda, -spirv, -metal, -full)
  Release:  tornadovm-$1-opencl-linux-amd64.zip from
            https://github.com/beehive-lab/TornadoVM/releases/tag/v$1
            unpacked anywhere; set TORNADOVM_HOME to the folder
END
}

tt_diagnose_toolchain() {
  if tt_find_jdk; then
    printf 'JDK        %s  %s (%s)\n' "$TT_JDK_VERSION" "$TT_JDK" "$TT_JDK_FROM"
  else
    printf 'JDK        25 not found. '
    [ -z "$TT_JDK_SEEN" ] || printf 'Others are:\n%s' "$TT_JDK_SEEN"
    printf 'Get it with one of:\n'
    tt_jdk_help
  fi
  tt_find_maven "$1"
  if [ "$TT_MAVEN" = mvn ]; then
    printf 'Maven      %s (needed only to build)\n' "$(command -v mvn)"
  else
    printf 'Maven      %s: the first build fetches its own (./mvnw)\n' "$TT_MAVEN_SEEN"
  fi
  [ -n "$TT_JDK" ]
}

tt_diagnose_sdk() {
  if ! tt_find_sdk; then
    if [ -n "$TT_SDK_FROM" ]; then
      printf 'TornadoVM  TORNADOVM_HOME=%s holds no SDK (no bin/tornado, share/java/tornado).\n' "$TORNADOVM_HOME"
    else
      printf 'TornadoVM  not found.\n'
    fi
    printf 'The engines host and scalar need none; for a GPU or another device get it with one of:\n'
    tt_sdk_help "$TT_PINNED_SDK"
    return 1
  fi
  printf 'TornadoVM  %s  %s (%s)\n' "${TT_SDK_VERSION:-unknown}" "$TT_SDK" "$TT_SDK_FROM"
  printf 'Backends   %s\n' "${TT_SDK_BACKENDS:-none named in etc/tornado.backend}"
  if [ "$TT_SDK_VERSION" != "$TT_PINNED_SDK" ]; then
    printf '  This project is built for %s; another version may lack what it uses. Get it with one of:\n' "$TT_PINNED_SDK"
    tt_sdk_help "$TT_PINNED_SDK"
  fi
  case $TT_SDK_VERSION in
    *-jdk25 | "") ;;
    *-jdk*) printf '  It is made for JDK %s and does not run on JDK 25.\n' "${TT_SDK_VERSION##*-jdk}" ;;
  esac
  case $TT_JDK_VERSION in
    25 | 25.0.0 | 25.0.1) printf '  It needs JDK 25.0.2 or newer, and JDK %s is what was found.\n' "$TT_JDK_VERSION" ;;
  esac
  command -v python3 > /dev/null || printf '  Its tornado command needs python3: apt-get install python3\n'
}

tt_diagnose_drivers() {
  local icd found=
  for icd in "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/*.icd; do
    [ ! -e "$icd" ] || found="$found ${icd##*/}"
  done
  if [ -n "$found" ]; then
    printf 'OpenCL    %s\n' "$found"
  elif [ "$(uname)" = Linux ]; then
    printf 'OpenCL     no driver in /etc/OpenCL/vendors. Get one with:\n'
    printf '  NVIDIA GPU: the NVIDIA driver brings it    Intel GPU: apt-get install intel-opencl-icd\n'
    printf '  CPU only (to check, not for speed): apt-get install pocl-opencl-icd\n'
  fi
  if command -v nvidia-smi > /dev/null; then
    printf 'NVIDIA     %s\n' "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>&1 | head -n 1)"
  fi
}

tt_diagnose_devices() {
  local output
  if ! output=$(PATH=$PATH:/usr/sbin:/sbin JAVA_HOME=$TT_JDK TORNADOVM_HOME=$TT_SDK "$TT_SDK/bin/tornado" --devices 2>&1); then
    printf 'Devices    tornado --devices failed:\n'
  else
    printf 'Devices    as tornado --devices lists them:\n'
  fi
  printf '%s\n' "$output" | sed -e $'s/\033\\[[0-9;]*m//g' -e '/^WARNING: Using incubator/d' -e '/^[[:space:]]*$/d' -e 's/^/  /'
}

# Says what is there and what is missing; fails if there is no JDK, without which nothing runs.
tt_diagnose() {
  local status=0
  tt_read_pinned_sdk "$1"
  tt_diagnose_toolchain "$1" || status=1
  if tt_diagnose_sdk; then
    tt_diagnose_drivers
    [ $status -ne 0 ] || tt_diagnose_devices
  fi
  return $status
}

# Prints the shell commands that set the environment up, for whoever sources this file.
# shellcheck disable=SC2016 # the reader of the commands expands $PATH
tt_print_exports() {
  if tt_find_jdk; then
    printf 'export JAVA_HOME=%q PATH=%q:"$PATH"\n' "$TT_JDK" "$TT_JDK/bin"
    printf 'tornado-env: JAVA_HOME=%s\n' "$TT_JDK" >&2
  else
    printf 'tornado-env: JDK 25 not found; run ./tornado-env.sh to see how to get it\n' >&2
  fi
  if tt_find_sdk; then
    printf 'export TORNADOVM_HOME=%q PATH=%q:"$PATH"\n' "$TT_SDK" "$TT_SDK/bin"
    printf 'tornado-env: TORNADOVM_HOME=%s\n' "$TT_SDK" >&2
  else
    printf 'tornado-env: no TornadoVM SDK; run ./tornado-env.sh to see how to get it\n' >&2
  fi
}

case ${1:-} in
  functions) ;;
  exports) tt_print_exports ;;
  "")
    tt_follow_links "$0"
    case $TT_TARGET in */*) ;; *) TT_TARGET=./$TT_TARGET ;; esac
    root=$(unset CDPATH && cd "${TT_TARGET%/*}" && pwd -P) || exit 1
    if [ ! -f "$root/pom.xml" ]; then
      printf 'tornado-env: %s is not in its project'"'"'s folder: there is no %s/pom.xml. Link to it instead of copying it\n' \
        "$TT_TARGET" "$root" >&2
      exit 1
    fi
    tt_diagnose "$root"
    ;;
  *)
    printf 'usage: ./tornado-env.sh (says what is there), or . ./tornado-env.sh (exports it)\n' >&2
    exit 2
    ;;
esac
