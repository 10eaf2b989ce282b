package io.github.tornadotransformers.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Machines whose {@code /proc} and {@code /sys} are folders of the test. */
class ControlGroupsTest {
    private static final String V1_MOUNT =
            "34 30 0:31 %s /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n";
    private static final String V2_MOUNT = "30 22 0:27 %s /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
    private static final String V1_UNLIMITED = "9223372036854771712";

    @TempDir
    private Path machine;

    @BeforeEach
    void mountOtherThings() throws IOException {
        write(
                "proc/self/mountinfo",
                "22 1 8:1 / / rw - ext4 /dev/root rw\n30 22 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n");
    }

    private void write(String file, String content) throws IOException {
        Path path = machine.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, content);
    }

    private void mount(String format, String root) throws IOException {
        Path mounts = machine.resolve("proc/self/mountinfo");
        Files.writeString(mounts, Files.readString(mounts) + format.formatted(root));
    }

    private void v1(String group, String limit, long used, long inactive, long active) throws IOException {
        String folder = "sys/fs/cgroup/memory" + group + "/memory.";
        write(folder + "limit_in_bytes", limit + "\n");
        write(folder + "usage_in_bytes", used + "\n");
        write(
                folder + "stat",
                "inactive_file 1\nactive_file 1\ntotal_inactive_file " + inactive + "\ntotal_active_file " + active
                        + "\n");
    }

    private void v2(String group, String max, long used, long file) throws IOException {
        String folder = "sys/fs/cgroup" + group + "/memory.";
        write(folder + "max", max + "\n");
        write(folder + "current", used + "\n");
        write(folder + "stat", "anon 5\nfile 9\ninactive_file " + file + "\nactive_file 0\nslab 3\n");
    }

    private ControlGroups groups() {
        return ControlGroups.of(machine);
    }

    @Test
    void machineWithoutControlGroupsHasNoLimit() {
        assertThat(groups().limitBytes()).isEmpty();
        assertThat(groups().freeBytes()).isEmpty();
        assertThat(ControlGroups.of(machine.resolve("absent")).freeBytes()).isEmpty();
    }

    @Test
    void unlimitedGroupsHaveNoLimit() throws IOException {
        mount(V2_MOUNT, "/");
        write("proc/self/cgroup", "0::/user.slice/app\n");
        v2("/user.slice/app", "max", 100, 0);
        assertThat(groups().limitBytes()).isEmpty();
        assertThat(groups().freeBytes()).isEmpty();
    }

    @Test
    void versionTwoAtTheRootOfAContainer() throws IOException {
        mount(V2_MOUNT, "/");
        write("proc/self/cgroup", "0::/\n");
        v2("", "1000", 300, 50);
        assertThat(groups().limitBytes()).hasValue(1000);
        assertThat(groups().freeBytes()).hasValue(750);
    }

    /** The tightest of its own group and those above. */
    @ParameterizedTest
    @ValueSource(strings = {"/a/b/c", "/a/b", "/a", ""})
    void versionTwoAtAnyDepth(String limited) throws IOException {
        mount(V2_MOUNT, "/");
        write("proc/self/cgroup", "0::/a/b/c\n");
        for (String group : new String[] {"/a/b/c", "/a/b", "/a", ""}) {
            v2(group, group.equals(limited) ? "1000" : "max", 400, 100);
        }
        v2("/a/other", "10", 0, 0);
        assertThat(groups().limitBytes()).hasValue(1000);
        assertThat(groups().freeBytes()).hasValue(700);
    }

    @Test
    void theTightestIsNotAlwaysTheSmallest() throws IOException {
        mount(V2_MOUNT, "/");
        write("proc/self/cgroup", "0::/a/b\n");
        v2("/a/b", "1000", 100, 0);
        v2("/a", "5000", 4500, 0);
        assertThat(groups().limitBytes()).hasValue(1000);
        assertThat(groups().freeBytes()).hasValue(500);
    }

    /** Above memory.high the kernel takes pages away all the time. */
    @Test
    void memoryHighIsALimitToo() throws IOException {
        mount(V2_MOUNT, "/");
        write("proc/self/cgroup", "0::/a\n");
        v2("/a", "1000", 100, 0);
        write("sys/fs/cgroup/a/memory.high", "600\n");
        assertThat(groups().limitBytes()).hasValue(600);
        assertThat(groups().freeBytes()).hasValue(500);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/docker/0123/inner", "/docker/0123", "/docker", ""})
    void versionOneAtAnyDepth(String limited) throws IOException {
        mount(V1_MOUNT, "/");
        write("proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/docker/0123/inner\n0::/\n");
        for (String group : new String[] {"/docker/0123/inner", "/docker/0123", "/docker", ""}) {
            v1(group, group.equals(limited) ? "1000" : V1_UNLIMITED, 400, 60, 40);
        }
        assertThat(groups().limitBytes()).hasValue(1000);
        assertThat(groups().freeBytes()).hasValue(700);
    }

    /** Docker without a namespace of control groups: the container's group is mounted where it sees the root. */
    @Test
    void groupThatIsMountedAsTheRoot() throws IOException {
        mount(V1_MOUNT, "/docker/0123");
        write("proc/self/cgroup", "4:memory:/docker/0123/inner\n");
        v1("", "1000", 400, 0, 0);
        v1("/inner", "900", 100, 0, 0);
        assertThat(groups().limitBytes()).hasValue(900);
        assertThat(groups().freeBytes()).hasValue(600);
    }

    /** A process that was moved after the mount: the mount's own group is all that is known. */
    @Test
    void groupThatTheMountDoesNotShow() throws IOException {
        mount(V2_MOUNT, "/docker/0123");
        write("proc/self/cgroup", "0::/../4567\n");
        v2("", "1000", 400, 0);
        assertThat(groups().freeBytes()).hasValue(600);
    }

    @Test
    void bothVersionsAtOnce() throws IOException {
        mount(V1_MOUNT, "/");
        mount("40 30 0:37 %s /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", "/");
        write("proc/self/cgroup", "4:memory:/a\n1:name=systemd:/b\n0::/c\n");
        v1("/a", "1000", 200, 0, 0);
        assertThat(groups().freeBytes()).hasValue(800);
        v2("/unified/c", "700", 100, 0);
        assertThat(groups().freeBytes()).hasValue(600);
    }

    @Test
    void foldersWithSpacesAreFound() throws IOException {
        mount("30 22 0:27 / /sys/control\\040groups rw - cgroup2 cgroup2 rw%s\n", "");
        write("proc/self/cgroup", "0::/a b:c\n");
        write("sys/control groups/a b:c/memory.max", "1000\n");
        assertThat(groups().freeBytes()).hasValue(1000);
    }

    @Test
    void moreUsedThanAllowedLeavesNothing() throws IOException {
        mount(V2_MOUNT, "/");
        write("proc/self/cgroup", "0::/\n");
        v2("", "1000", 1300, 0);
        assertThat(groups().freeBytes()).hasValue(0);
    }
}
