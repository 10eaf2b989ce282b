package io.github.tornadotransformers.models.jinja;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.tornadotransformers.models.SharedData;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The goldens are what transformers say: {@code -Dpython=…} is a Python that has them. */
class FreshTemplateGoldensTest {
    @TempDir
    private Path folder;

    @Test
    void transformersRenderTheGoldens() throws IOException, InterruptedException {
        String python = System.getProperty("python", "python3");
        assumeTrue(
                run(python, "-c", "import transformers, jinja2"),
                python + " is not there, or has no transformers (-Dpython=…)");
        Path shared = SharedData.require("templates").getParent();
        assertThat(run(
                        python,
                        "src/test/python/make_template_goldens.py",
                        folder.toString(),
                        "--shared",
                        shared.toString()))
                .as(Files.readString(folder.resolve("log")))
                .isTrue();
        for (String name : new String[] {"language.json", "released.json"}) {
            assertThat(new JsonMapper().readTree(folder.resolve(name).toFile())).isEqualTo(TemplateGoldens.read(name));
        }
    }

    private boolean run(String... command) throws InterruptedException {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("log").toFile())
                    .start();
            boolean ended = process.waitFor(5, TimeUnit.MINUTES);
            process.destroyForcibly();
            return ended && process.exitValue() == 0;
        } catch (IOException notThere) {
            return false;
        }
    }
}
