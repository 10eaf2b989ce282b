package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.runner.CommandRun;
import io.github.tornadotransformers.runner.SmallModels;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What keeps a server from starting; what it answers is the server module's. */
class ServeCommandTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--port 99999                 | 2 | --port is 99999, expected 0 to 65535",
                "--jobs 0                     | 2 | --jobs is 0, expected 1 or more",
                "--queue 0                    | 2 | --queue is 0, expected 1 or more",
                "--max-time 0                 | 2 | --max-time is 0, expected 1 or more",
                "--max-body 3G                | 2 | --max-body is 3221225472, expected less than 2G",
                "--tls-cert x.pem             | 2 | --tls-cert and --tls-key belong together",
                "--model nosuch               | 1 | model nosuch is neither a folder nor a known name",
                "-m shakespeare-llama -m shakespeare-llama | 2 | --model names a model twice",
            })
    void isSaidInOneLineAndNothingListens(String options, int code, String message) {
        CommandRun run = CommandRun.of(("serve --port 0 " + options)
                .replace("--port 0 --port", "--port")
                .split(" ", -1));
        assertThat(run.exitCode()).isEqualTo(code);
        assertThat(run.errLines()).hasSize(1);
        assertThat(run.err()).contains(message);
        assertThat(run.out()).isEmpty();
    }

    @Test
    void aPortThatIsTakenIsSaid() throws IOException {
        String model = SmallModels.gpt2(folder).toString();
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CommandRun run = CommandRun.of("serve", "-m", model, "--port", Integer.toString(taken.getLocalPort()));
            assertThat(run.exitCode()).isEqualTo(1);
            assertThat(run.err())
                    .contains("127.0.0.1:" + taken.getLocalPort() + " cannot be listened on: ")
                    .contains("--port 0 takes any free one");
            assertThat(run.out()).isEmpty();
        }
    }

    @Test
    void aBrokenModelIsAFailureAndNoWrongCall() throws IOException {
        Path model = SmallModels.gpt2(folder);
        Path weights = model.resolve("model.safetensors");
        Files.write(weights, Arrays.copyOf(Files.readAllBytes(weights), 4000));
        CommandRun run = CommandRun.of("serve", "-m", model.toString(), "--port", "0");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.errLines()).hasSize(1);
        assertThat(run.err()).startsWith("transformers serve: " + weights).doesNotContain("--help");
    }
}
