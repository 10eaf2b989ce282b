package io.github.tornadotransformers.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * The memory that the process's control groups leave it: those of version 1 and of version 2, its own and all above, as far as
 * they can be seen. The kernel kills a process at the least of these limits, in a container and outside.
 *
 * <p>Source: the Linux kernel's documentation, admin-guide/cgroup-v1/memory.rst and admin-guide/cgroup-v2.rst; proc(5).
 */
final class ControlGroups {
    private static final List<Version> VERSIONS = List.of(
            new Version(
                    "cgroup",
                    "memory",
                    List.of("memory.limit_in_bytes"),
                    "memory.usage_in_bytes",
                    List.of("total_inactive_file ", "total_active_file ")),
            new Version(
                    "cgroup2",
                    "",
                    List.of("memory.max", "memory.high"),
                    "memory.current",
                    List.of("inactive_file ", "active_file ")));

    private final List<Group> groups = new ArrayList<>();

    /** A group's folder, and how the files in it are called. */
    private record Group(Path folder, Version version) {}

    /**
     * How a version names things.
     *
     * @param controller that counts memory, in {@code /proc/self/cgroup} and among the options of a mount
     * @param limits files of bytes
     * @param reclaimable how lines of {@code memory.stat} begin that the kernel gives back when asked
     */
    private record Version(
            String fileSystem, String controller, List<String> limits, String used, List<String> reclaimable) {
        boolean isNamedBy(String controllers) {
            return List.of(controllers.split(",", -1)).contains(controller);
        }
    }

    /**
     * A line of {@code /proc/self/mountinfo}.
     *
     * @param root the group that the mount shows at {@code point}
     */
    private record Mount(String root, String point, String fileSystem, List<String> options) {
        static Mount of(String line) {
            String[] halves = line.split(" - ", 2);
            String[] first = halves[0].split(" ", -1);
            String[] second = halves[1].split(" ", -1);
            return new Mount(unescaped(first[3]), unescaped(first[4]), second[0], List.of(second[2].split(",", -1)));
        }

        private static String unescaped(String path) {
            return path.replace("\\040", " ")
                    .replace("\\011", "\t")
                    .replace("\\012", "\n")
                    .replace("\\134", "\\");
        }

        boolean shows(Version version) {
            return fileSystem.equals(version.fileSystem)
                    && (version.controller.isEmpty() || options.contains(version.controller));
        }

        /** Where {@code group} lies below the mount's point; empty if the mount does not show it but perhaps those above. */
        String below(String group) {
            if (root.equals("/")) {
                return group;
            }
            return group.equals(root) || group.startsWith(root + "/") ? group.substring(root.length()) : "";
        }
    }

    private ControlGroups() {}

    /** @param machine the root of its file system, which has {@code proc} */
    static ControlGroups of(Path machine) {
        ControlGroups all = new ControlGroups();
        List<Mount> mounts = lines(machine.resolve("proc/self/mountinfo")).stream()
                .filter(line -> line.contains(" - cgroup"))
                .map(Mount::of)
                .toList();
        for (String line : lines(machine.resolve("proc/self/cgroup"))) {
            String[] parts = line.split(":", 3);
            for (Version version : VERSIONS) {
                mounts.stream()
                        .filter(mount -> parts.length == 3 && version.isNamedBy(parts[1]) && mount.shows(version))
                        .forEach(mount -> all.add(machine, mount, mount.below(parts[2]), version));
            }
        }
        return all;
    }

    private void add(Path machine, Mount mount, String below, Version version) {
        Path top = machine.resolve(mount.point().substring(1)).normalize();
        Path folder = top.resolve(below.substring(Math.min(1, below.length()))).normalize();
        for (Path each = folder; each != null && each.startsWith(top); each = each.getParent()) {
            groups.add(new Group(each, version));
        }
    }

    /** The least limit; empty where there is none. */
    OptionalLong limitBytes() {
        return groups.stream()
                .map(ControlGroups::limit)
                .flatMapToLong(OptionalLong::stream)
                .min();
    }

    /** The least that a limit leaves beside what is used already and cannot be given back; empty where there is no limit. */
    OptionalLong freeBytes() {
        return groups.stream()
                .map(ControlGroups::free)
                .flatMapToLong(OptionalLong::stream)
                .min();
    }

    private static OptionalLong limit(Group group) {
        return group.version().limits.stream()
                .map(file -> number(group.folder().resolve(file)))
                .flatMapToLong(OptionalLong::stream)
                .min();
    }

    private static OptionalLong free(Group group) {
        OptionalLong limit = limit(group);
        if (limit.isEmpty()) {
            return limit;
        }
        long used = number(group.folder().resolve(group.version().used)).orElse(0);
        long reclaimable = lines(group.folder().resolve("memory.stat")).stream()
                .filter(line -> group.version().reclaimable.stream().anyMatch(line::startsWith))
                .mapToLong(line ->
                        Long.parseLong(line.substring(line.indexOf(' ') + 1).strip()))
                .sum();
        return OptionalLong.of(Math.max(0, limit.getAsLong() - Math.max(0, used - reclaimable)));
    }

    /** Empty for "max", which is no limit. */
    private static OptionalLong number(Path file) {
        return lines(file).stream()
                .filter(line -> !line.isEmpty() && Character.isDigit(line.charAt(0)))
                .mapToLong(line -> Long.parseLong(line.strip()))
                .findFirst();
    }

    private static List<String> lines(Path file) {
        try {
            return Files.isReadable(file) ? Files.readAllLines(file) : List.of();
        } catch (IOException e) {
            return List.of();
        }
    }
}
