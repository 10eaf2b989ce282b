package io.github.tornadotransformers.testsupport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Runs a parser on inputs that are more or less broken: it accepts one, or refuses it in words. A build makes few runs;
 * {@code -Dfuzz.runs=100000 -Dfuzz.seed=7} makes many others. The input of the latest run lies in {@code target/fuzz}, even
 * where the parser has ended the process.
 */
public final class Fuzzing {
    private static final String RUNS = "fuzz.runs";
    private static final String SEED = "fuzz.seed";
    /** More than the runs of a seed, so that another's are others. */
    private static final long PRIME = 1_000_000_007;

    private final String name;
    private final List<Class<? extends RuntimeException>> refusals;

    /**
     * @param name of the folder that gets the inputs
     * @param refusals what the parser throws for the user to read
     */
    public Fuzzing(String name, List<Class<? extends RuntimeException>> refusals) {
        this.name = name;
        this.refusals = refusals;
    }

    /** Writes an input into the empty folder, and has the parser read and use it. */
    @FunctionalInterface
    public interface Attempt {
        void run(SplittableRandom random, Path folder) throws IOException;
    }

    /** @param few runs where no number is asked for; at least one of them has to be accepted, and one refused */
    public void run(int few, Attempt attempt) throws IOException {
        int runs = Integer.getInteger(RUNS, few);
        long seed = Long.getLong(SEED, 1);
        Path folder = Path.of("target", "fuzz", name).toAbsolutePath();
        int refused = 0;
        for (int run = 0; run < runs; run++) {
            clear(folder);
            refused += accepts(attempt, new SplittableRandom(seed * PRIME + run), folder, seed, run) ? 0 : 1;
        }
        assertThat(refused).as("refused of %d runs of seed %d", runs, seed).isBetween(1, runs - 1);
    }

    private boolean accepts(Attempt attempt, SplittableRandom random, Path folder, long seed, int run)
            throws IOException {
        try {
            attempt.run(random, folder);
            return true;
        } catch (RuntimeException | Error e) {
            boolean refusal = refusals.stream().anyMatch(each -> each.isInstance(e))
                    && e.getMessage() != null
                    && e.getMessage().codePoints().noneMatch(Fuzzing::controls);
            if (!refusal) {
                throw new AssertionError(
                        String.format("run %d of -D%s=%d, whose input is in %s: %s", run, SEED, seed, folder, e), e);
            }
            return false;
        }
    }

    /** A message may list several problems, a line each. */
    private static boolean controls(int codePoint) {
        return Character.isISOControl(codePoint) && codePoint != '\n';
    }

    /** New files each time: overwriting one makes some file systems wait for the disk. */
    private static void clear(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> files = Files.walk(folder)) {
                files.sorted(Comparator.reverseOrder()).forEach(Fuzzing::delete);
            }
        }
        Files.createDirectories(folder);
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
