package io.github.tornadotransformers.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainingLockTest {
    private static final String HELD = "held";

    @TempDir
    private Path folder;

    /** A process that holds the lock of a folder until its input ends. */
    static final class Holder {
        private Holder() {}

        public static void main(String... folder) throws IOException {
            try (TrainingLock _ = TrainingLock.hold(Path.of(folder[0]))) {
                System.out.println(HELD);
                System.in.transferTo(System.out);
            }
        }
    }

    @Test
    void aFolderIsOneProcessAtATime() throws IOException, InterruptedException {
        Process holder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Holder.class.getName(),
                        folder.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            byte[] said = holder.getInputStream().readNBytes(HELD.length());
            assertThat(new String(said, StandardCharsets.US_ASCII)).isEqualTo(HELD);
            assertThatThrownBy(() -> TrainingLock.hold(folder))
                    .isInstanceOf(TrainingException.class)
                    .hasMessage(
                            "another training writes to " + folder + ": wait for its end, or choose another folder");
        } finally {
            holder.getOutputStream().close();
        }
        assertThat(holder.waitFor()).isZero();
        TrainingLock.hold(folder).close();
    }
}
