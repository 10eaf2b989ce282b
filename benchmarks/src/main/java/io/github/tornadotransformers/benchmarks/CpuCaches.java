package io.github.tornadotransformers.benchmarks;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** The processors' caches, as Linux lists them. */
public final class CpuCaches {
    /** Where nothing is listed: more than most have. */
    private static final long ASSUMED_BYTES = 64L << 20;

    private static final Path CPUS = Path.of("/sys/devices/system/cpu");

    private CpuCaches() {}

    /** Bytes of all last-level caches together. */
    public static long lastLevelBytes() {
        return lastLevelBytes(CPUS);
    }

    /** @param cpus a folder {@code cpu0/cache/index0/{level,size,shared_cpu_list}} and so on */
    static long lastLevelBytes(Path cpus) {
        Map<String, Long> lastLevel = new HashMap<>();
        int highest = 0;
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(cpus, "cpu[0-9]*")) {
            for (Path cpu : folders) {
                for (int index = 0; Files.isDirectory(cache(cpu, index)); index++) {
                    Path cache = cache(cpu, index);
                    int level = Integer.parseInt(text(cache, "level"));
                    if (level > highest) {
                        highest = level;
                        lastLevel.clear();
                    }
                    if (level == highest) {
                        lastLevel.put(text(cache, "shared_cpu_list"), size(text(cache, "size")));
                    }
                }
            }
        } catch (IOException | NumberFormatException e) {
            return ASSUMED_BYTES;
        }
        long total = lastLevel.values().stream().mapToLong(Long::longValue).sum();
        return total == 0 ? ASSUMED_BYTES : total;
    }

    private static Path cache(Path cpu, int index) {
        return cpu.resolve("cache").resolve("index" + index);
    }

    private static String text(Path cache, String file) throws IOException {
        return Files.readString(cache.resolve(file)).strip();
    }

    /** {@code 512K} or {@code 32M}. */
    private static long size(String text) {
        String size = text.toUpperCase(Locale.ROOT);
        long digits = Long.parseLong(size.replaceAll("[KM]$", ""));
        return size.endsWith("M") ? digits << 20 : size.endsWith("K") ? digits << 10 : digits;
    }
}
