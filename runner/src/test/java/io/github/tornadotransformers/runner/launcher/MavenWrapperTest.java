package io.github.tornadotransformers.runner.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code mvnw} runs no Maven but the one whose checksum the project names; what fetches and unpacks is fake. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "mvnw is a shell script")
class MavenWrapperTest {
    private static final String PROPERTIES = ".mvn/wrapper/maven-wrapper.properties";
    private static final String FETCHED = "of the right Maven";
    private static final String SUM_OF_FETCHED = "199a8081e8857e893e48ef07f1e206958f1449297ab2d25c1b57a75b472bd6dc";
    private static final List<String> TOOLS = List.of(
            "sh", "uname", "dirname", "basename", "tr", "mktemp", "mkdir", "mv", "rm", "chmod", "sha256sum", "shasum");

    @TempDir
    private Path folder;

    private Path root;
    private Path bin;

    @BeforeEach
    void makeCheckout() throws IOException {
        root = folder.resolve("checkout");
        bin = Files.createDirectories(folder.resolve("bin"));
        Files.createDirectories(root.resolve(PROPERTIES).getParent());
        for (String name : List.of("mvnw", PROPERTIES)) {
            Files.copy(FakeCheckout.projectRoot().resolve(name), root.resolve(name));
        }
        for (String tool : TOOLS) {
            FakeCheckout.linkTool(tool, bin);
        }
        FakeCheckout.script(bin.resolve("wget"), "printf '" + FETCHED + "' > \"$4\"\n");
    }

    @ParameterizedTest
    @CsvSource({"unzip, zip", "tar, tar.gz"})
    void fileOfAnotherChecksumIsThrownAway(String unpacker, String ending) throws Exception {
        putUnpacker(unpacker);
        ScriptRun run = run();
        assertThat(run.exitCode()).isOne();
        assertThat(run.out()).isEmpty();
        assertThat(run.err())
                .matches("mvnw: what came from https://\\S+-bin\\." + ending + " does not have the SHA-256 checksum of "
                        + PROPERTIES + ", and was thrown away\n");
        assertThat(folder.resolve("unpacked")).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource({"unzip, distributionSha256Sum", "tar, tarGzSha256Sum"})
    void fileOfItsChecksumIsUnpackedAndRun(String unpacker, String property) throws Exception {
        putUnpacker(unpacker);
        Path properties = root.resolve(PROPERTIES);
        Files.writeString(
                properties,
                Files.readString(properties).replaceFirst(property + "=.*", property + "=" + SUM_OF_FETCHED));
        ScriptRun run = run();
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).isEqualTo("Maven: -v\n");
        assertThat(folder.resolve("unpacked")).exists();
    }

    /** Makes a Maven, and a mark, as if from the archive. */
    private void putUnpacker(String name) throws IOException {
        FakeCheckout.script(bin.resolve(name), """
                mkdir -p "$4/maven/bin"
                printf '#!/bin/sh\\necho "Maven: $*"\\n' > "$4/maven/bin/mvn"
                chmod +x "$4/maven/bin/mvn"
                : > '%s/unpacked'
                """.formatted(folder));
    }

    private ScriptRun run() throws Exception {
        Map<String, String> environment = Map.of("PATH", bin.toString(), "HOME", folder.toString());
        return RunningScript.start(
                        folder, environment, List.of(root.resolve("mvnw").toString(), "-v"))
                .finish();
    }
}
