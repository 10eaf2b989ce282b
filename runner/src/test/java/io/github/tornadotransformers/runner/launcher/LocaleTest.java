package io.github.tornadotransformers.runner.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.runner.Main;
import io.github.tornadotransformers.runner.SmallModels;
import io.github.tornadotransformers.runner.console.ExitCode;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The launcher's scripts with the real JDK and the real program: arguments, standard input, file names and output are UTF-8
 * whatever the locale is.
 */
@DisabledOnOs(
        value = {OS.WINDOWS, OS.MAC},
        disabledReason = "the launcher is a bash script, and on macOS the JVM takes UTF-8 whatever the locale is")
class LocaleTest {
    private static final String TEXT = "é🦙";
    private static final String[] TOKENIZE = {"tokenize", TEXT, "-m", "ein Mödell", "--json"};
    /** The tokenizer's ids are the text's bytes, but for the piece of the llama's first three. */
    private static final String TOKENIZED =
            "{\"ids\":[195,169,264,153],\"pieces\":[\"Ã\",\"©\",\"ðŁ¦\",\"Ļ\"],\"text\":\"" + TEXT + "\"}\n";

    @TempDir
    private Path folder;

    private FakeCheckout checkout;

    @BeforeEach
    void buildProgram() throws IOException {
        checkout = new FakeCheckout(folder);
        checkout.set("JAVA_HOME", System.getProperty("java.home"));
        Path build = Files.createDirectories(checkout.root().resolve("target/app/build.1"));
        writeProgram(build.resolve("transformers.jar"));
        Files.writeString(build.resolveSibling("current"), "build.1\n");
        SmallModels.gpt2(folder.resolve("ein Mödell"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LANG=xx_XX.UTF-8",
                "LANG=en_US.UTF-8",
                "LC_CTYPE=UTF-8",
                "LANG=de_DE.ISO-8859-1",
                "LC_ALL=xx_XX.UTF-8",
                "LC_MESSAGES=xx_XX.UTF-8",
                "LC_ALL=C",
            })
    void textAndNamesAreUtf8(String setting) throws Exception {
        set(setting);
        assertThat(checkout.launch(TOKENIZE).out()).isEqualTo(TOKENIZED);
        assertThat(throughAPipe().out()).isEqualTo(TOKENIZED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"LANG=xx_XX.UTF-8", "LC_CTYPE=UTF-8", "LANG=de_DE.ISO-8859-1", "LC_ALL=C"})
    void textAndNamesAreUtf8ThroughTheSdkToo(String setting) throws Exception {
        checkout.set("TORNADOVM_HOME", sdkThatRunsTheProgram().toString());
        set(setting);
        String[] onDevice =
                Stream.concat(Stream.of(TOKENIZE), Stream.of("-e", "tornado")).toArray(String[]::new);
        assertThat(checkout.launch(onDevice)).isEqualTo(new ScriptRun(ExitCode.OK, TOKENIZED, "through the SDK\n"));
    }

    /** As a terminal sends it whose own encoding is Latin-1. */
    @Test
    void anArgumentThatIsNotUtf8IsRefused() throws Exception {
        ScriptRun run = checkout.run(
                "bash",
                "-c",
                "exec '" + checkout.root() + "/transformers' tokenize \"$(printf 'caf\\351')\" -m 'ein Mödell'");
        assertThat(run)
                .isEqualTo(new ScriptRun(
                        ExitCode.USAGE, "", "transformers: argument 2 is not UTF-8 text: \"caf\uFFFD\"\n"));
    }

    @Test
    void theReplacementCharacterItselfIsAnArgument() throws Exception {
        assertThat(checkout.launch("tokenize", "\uFFFD", "-m", "ein Mödell", "--json")
                        .out())
                .contains("\"text\":\"\uFFFD\"");
    }

    /** The program without its launcher cannot change what the JVM has read. */
    @Test
    void withoutTheLauncherTheJvmsEncodingIsRefused() throws Exception {
        checkout.set("LC_ALL", "C");
        writeProgram(folder.resolve("program.jar"));
        ScriptRun run =
                checkout.run(System.getProperty("java.home") + "/bin/java", "-jar", "program.jar", "tokenize", TEXT);
        assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err())
                .startsWith("transformers: the JVM reads arguments in ")
                .endsWith(", expected UTF-8: start ./transformers, or set LC_ALL=C.UTF-8\n");
    }

    private void set(String setting) {
        checkout.set("LANG", "C");
        checkout.set(setting.split("=", 2)[0], setting.split("=", 2)[1]);
    }

    private ScriptRun throughAPipe() throws Exception {
        String launcher = "'" + checkout.root() + "/transformers'";
        return checkout.run("bash", "-c", "printf '" + TEXT + "' | " + launcher + " tokenize -m 'ein Mödell' --json");
    }

    /** Its {@code tornado} hands words to a shell, as the real one does, and runs the command without the engine. */
    private Path sdkThatRunsTheProgram() throws IOException {
        Path sdk = checkout.sdk("an SDK");
        FakeCheckout.script(sdk.resolve("bin/tornado"), """
                echo 'through the SDK' >&2
                for argument in "$@"; do
                  case $argument in
                    --jvm=*) jvm=${argument#--jvm=} ;;
                    --params=*) params=${argument#--params=} ;;
                    -jar) ;;
                    *) program=$argument ;;
                  esac
                done
                eval "\"$JAVA_HOME/bin/java\" $jvm -jar $program ${params% *-e*}"
                """);
        return sdk;
    }

    /** A jar that holds nothing and names the classes under test. */
    private static void writeProgram(Path jar) throws IOException {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(Attributes.Name.MAIN_CLASS, Main.class.getName());
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        attributes.put(
                Attributes.Name.CLASS_PATH,
                Arrays.stream(classPath.split(File.pathSeparator))
                        .map(entry -> Path.of(entry).toUri().toString())
                        .collect(Collectors.joining(" ")));
        attributes.putValue("Enable-Native-Access", "ALL-UNNAMED");
        attributes.putValue("Add-Exports", "java.base/jdk.internal.module");
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file, manifest)) {
            out.finish();
        }
    }
}
