package io.github.tornadotransformers.benchmarks.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.EngineException;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Op;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs every benchmark of tiny models as JMH does, each for a moment: whether they work, not how fast. */
class BenchmarksTest {
    /** In this JVM, one iteration of a millisecond, no warm-up. */
    private static final String[] MOMENT = {"-f", "0", "-wi", "0", "-i", "1", "-r", "1ms", "-v", "SILENT"};

    private static final String[] TINY = {"-p", "model=tiny-gpt2,tiny-llama", "-p", "threads=2"};

    /** JMH lets no two run at a time on a machine; nothing here depends on speed. */
    @BeforeAll
    static void ignoreOtherRuns() {
        System.setProperty("jmh.ignoreLock", "true");
    }

    /** The table, or the list, that was asked for. */
    private static String run(String[]... arguments) {
        return run(false, arguments);
    }

    private static String run(boolean withLimits, String[]... arguments) {
        StringBuilder out = new StringBuilder();
        PrintStream err = new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);
        new JmhRun(out::append, err, withLimits)
                .run(Arrays.stream(arguments).flatMap(Arrays::stream).toArray(String[]::new));
        return out.toString();
    }

    /** Of the table, without title and rule. */
    private static List<String> rows(String out) {
        return out.lines().filter(line -> line.startsWith("| tiny")).toList();
    }

    private static String[] words(String text) {
        return text.split(" ", -1);
    }

    private static Selection tiny() {
        return new Selection(Map.of("model", List.of("tiny-gpt2", "tiny-llama"), "threads", List.of("2")));
    }

    private static void assertRuns(String out, int cases) {
        assertThat(rows(out)).hasSize(cases).noneMatch(row -> row.contains("NaN") || row.contains("| 0 |"));
    }

    @Test
    void everyOpRunsOnEveryEngine() {
        assertRuns(
                run(words("OpBenchmark -foe true"), MOMENT, TINY), tiny().ops().size());
    }

    @Test
    void everyGradientRuns() {
        assertRuns(
                run(words("GradientBenchmark"), MOMENT, TINY),
                tiny().gradients().size());
    }

    @Test
    void wholeModelsRun() {
        assertRuns(
                run(words("ModelBenchmark"), MOMENT, TINY), tiny().wholeModels().size());
    }

    @Test
    void limitsAreMeasuredBesideTheTimes() {
        String out =
                run(true, words("OpBenchmark -p model=tiny-llama -p op=gatedMlp -p engine=host -p threads=1"), MOMENT);

        assertThat(rows(out)).hasSize(2).allMatch(row -> row.matches(".*\\| arithmetic \\| +\\d+ % \\|"));
        assertThat(out).containsPattern("This machine, 1 thread: reads [\\d.]+ GB/s, computes [\\d.]+ GFLOP/s");
    }

    /** A new Op without a benchmark fails here; the copy of rows is no loop of an engine's. */
    @ParameterizedTest
    @ValueSource(strings = {"scalar", "host", "kernels"})
    void everyOpHasABenchmarkOnEveryEngine(String engine) {
        Set<String> timed = tiny().ops().stream()
                .filter(each -> each.engine().toString().equals(engine))
                .map(BenchmarksTest::opOf)
                .collect(Collectors.toSet());
        Set<String> all = Arrays.stream(Op.class.getPermittedSubclasses())
                .filter(each -> each != Op.SelectRows.class && each != Op.Scale.class)
                .map(Class::getSimpleName)
                .collect(Collectors.toSet());

        assertThat(timed).isEqualTo(all);
    }

    private static String opOf(Case of) {
        return Shapes.named(of.model()).program(1).ops().stream()
                .filter(op -> op.name().equals(of.op()))
                .findFirst()
                .orElseThrow()
                .getClass()
                .getSimpleName();
    }

    @ParameterizedTest
    @ValueSource(strings = {"scalar", "host", "kernels"})
    void everyMatrixIsTimedInEveryType(String engine) {
        Map<String, Set<DType>> types = tiny().ops().stream()
                .filter(each -> each.engine().toString().equals(engine))
                .filter(each -> each.op().endsWith("Proj")
                        || each.op().equals("lmHead")
                        || each.op().equals("tokenEmbedding"))
                .collect(Collectors.groupingBy(Case::op, Collectors.mapping(Case::dtype, Collectors.toSet())));

        assertThat(types.keySet())
                .contains("qkvProj", "oProj", "gateUpProj", "upProj", "downProj", "lmHead", "tokenEmbedding");
        assertThat(types.values()).allMatch(each -> each.equals(Set.copyOf(DType.OF_MATRICES)));
    }

    @Test
    void aCaseIsItsText() {
        for (Case each : tiny().all()) {
            assertThat(Case.parse(each.toString())).isEqualTo(each);
        }
        assertThatThrownBy(() -> Case.parse("gpt2-124M/qkvProj"))
                .hasMessage("'gpt2-124M/qkvProj' is no case, expected model/op/pass/dtype/engine/threads");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-p modle=gpt2-124M: there is no parameter 'modle', expected one of model, op, pass, dtype, engine, threads",
                "-p model=gpt3: there is no model 'gpt3', expected one of stories15M, gpt2-124M,",
                "-p op=rope: there is no case of op=rope here: -l lists them",
                "-p engine=gpu: there is no engine 'gpu', expected one of [scalar, host, kernels, tornado,",
                "-p dtype=f64: there is no case of dtype=f64 here",
                "-p threads=0: threads is 0, expected 1 to 9999",
                "-i many: "
            })
    void aWrongCallIsRefused(String callAndMessage) {
        int colon = callAndMessage.indexOf(": ");
        assertThatThrownBy(() -> run(words(callAndMessage.substring(0, colon))))
                .isInstanceOf(InvalidRequest.class)
                .hasMessageContaining(callAndMessage.substring(colon + 2));
    }

    @Test
    void aDeviceWithoutTornadoVmIsRefused() {
        assertThatThrownBy(() -> run(words("OpBenchmark -p model=tiny-llama -p op=rotary -p engine=tornado"), MOMENT))
                .isInstanceOf(EngineException.class)
                .hasMessageStartingWith("engine tornado: no TornadoVM SDK was found");
    }

    @Test
    void listNamesTheCases() {
        String out = run(words("-l -p model=tiny-gpt2 -p op=qkvProj -p pass=decode -p dtype=bf16 -p threads=1"));

        assertThat(out).isEqualTo("""
                tiny-gpt2/qkvProj/decode/bf16/scalar/1
                tiny-gpt2/qkvProj/decode/bf16/host/1
                tiny-gpt2/qkvProj/decode/bf16/kernels/1
                """);
    }
}
