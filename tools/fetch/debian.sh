# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154
#
# Shared by the scripts that fetch packages of Debian: apt with a configuration,
# sources and directories of its own. The machine's own files do not change. The script
# that includes this sets $tmp and $log, and has a function fail().

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# RELEASE...: prints the archive from which the machine installs the first release
# that it has.
debian_archive() {
	# shellcheck disable=SC2016 # for apt to fill in
	apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' \
		'Created-By: Packages' 2>/dev/null |
		sed -n "s/^\($(echo "$*" | sed 's/ /\\|/g')\) main //p" | head -n 1
}

# ARCHIVE SUITE...: takes from the machine's configuration how to reach archives, and
# none of its hooks.
debian_configure() {
	mkdir -p "$tmp/state/lists/partial" "$tmp/cache/archives/partial" \
		"$tmp/log" "$tmp/dpkg" || fail "cannot create $tmp"
	# A copy, because apt locks what is beside it.
	cp /var/lib/dpkg/status "$tmp/dpkg/status" 2>>"$log" ||
		fail "cannot read what is installed"
	{
		apt-config dump | grep '^Acquire::' |
			grep -v '^Acquire::\(IndexTargets\|Languages\)'
		cat <<-END
			Acquire::Languages "none";
			APT::Architecture "amd64";
			APT::Sandbox::User "root";
			APT::Install-Recommends "false";
			APT::Update::Error-Mode "any";
			Dir::Etc::main "/dev/null";
			Dir::Etc::parts "/dev/null";
			Dir::Etc::sourcelist "$tmp/sources.list";
			Dir::Etc::sourceparts "/dev/null";
			Dir::Etc::preferences "/dev/null";
			Dir::Etc::preferencesparts "/dev/null";
			Dir::State "$tmp/state";
			Dir::State::status "$tmp/dpkg/status";
			Dir::Cache "$tmp/cache";
			Dir::Log "$tmp/log";
		END
	} >"$tmp/apt.conf" || fail "cannot write to $tmp"
	archive=$1
	shift
	for name in "$@"; do
		echo "deb [signed-by=$keyring] $archive $name main"
	done >"$tmp/sources.list" || fail "cannot write to $tmp"
	export APT_CONFIG="$tmp/apt.conf"
}

# Fetches the lists of packages of these suites.
debian_update() {
	apt-get update -q >>"$log" 2>&1 </dev/null && return
	grep -q 'not signed\|NO_PUBKEY\|[A-Z]*SIG ' "$log" &&
		fail "the archive that apt is configured for is not signed by Debian"
	fail "cannot reach $* by the archive that apt is configured for"
}
