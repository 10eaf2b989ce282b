package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.benchmarks.BenchTest;
import io.github.tornadotransformers.benchmarks.OpCases;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.checkpoint.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The cases of a call: all combinations that there are. JMH would run every combination of parameters, also an Op that a model
 * does not have, or a second thread of an engine that has one; so a case is one parameter, and this makes the list of its values
 * from a call's {@code -p model=… -p op=… -p pass=… -p dtype=… -p engine=… -p threads=…}.
 */
final class Selection {
    static final String MODEL = "model";
    static final String OP = "op";
    static final String PASS = "pass";
    static final String DTYPE = "dtype";
    static final String ENGINE = "engine";
    static final String THREADS = "threads";

    /** What a call may narrow. */
    static final List<String> NAMES = List.of(MODEL, OP, PASS, DTYPE, ENGINE, THREADS);

    /** The definition is run on whole models of so many parameters at most: others take minutes for a prompt. */
    private static final long MOST_SCALAR_PARAMETERS = 50_000_000;

    private final Map<String, ? extends Collection<String>> wanted;

    /** @param wanted values by name; all that is usual for a name that is missing */
    Selection(Map<String, ? extends Collection<String>> wanted) {
        this.wanted = wanted;
    }

    /**
     * Every case of every kind.
     *
     * @throws InvalidRequest if a wanted Op, pass or type is in none
     */
    List<Case> all() {
        List<Case> all = Stream.of(ops(), gradients(), wholeModels())
                .flatMap(List::stream)
                .toList();
        requireFound(OP, all.stream().map(Case::op));
        requireFound(PASS, all.stream().map(each -> lower(each.pass())));
        requireFound(DTYPE, all.stream().map(each -> lower(each.dtype())));
        return all;
    }

    private void requireFound(String name, Stream<String> values) {
        Set<String> found = values.collect(Collectors.toSet());
        for (String value : values(name, List.of())) {
            if (!found.contains(value)) {
                throw new InvalidRequest("there is no case of " + name + "=" + value + " here: -l lists them");
            }
        }
    }

    /** Ops, in the order in which a model runs them. */
    List<Case> ops() {
        List<Case> cases = new ArrayList<>();
        for (String model : models()) {
            List<OpCases.Key> keys = new OpCases(Shapes.named(model))
                    .keys(List.of(BenchTest.Phase.values()), List.of(), DType.OF_MATRICES);
            for (OpCases.Key key : keys) {
                Case.Pass pass = Case.Pass.valueOf(key.phase().name());
                addEngines(cases, model, key.op(), pass, key.dtype(), Set.of(BenchmarkEngine.values()));
            }
        }
        return cases;
    }

    /** Gradients: float32, on engines that can be trained on. */
    List<Case> gradients() {
        List<Case> cases = new ArrayList<>();
        for (String model : models()) {
            Set<String> names = new LinkedHashSet<>();
            GradientRun.all(model).forEach(gradient -> names.add(gradient.name()));
            for (String name : names) {
                addEngines(
                        cases,
                        model,
                        name,
                        Case.Pass.BACKWARD,
                        DType.F32,
                        Set.of(BenchmarkEngine.SCALAR, BenchmarkEngine.HOST));
            }
        }
        return cases;
    }

    /** Whole models. */
    List<Case> wholeModels() {
        List<Case> cases = new ArrayList<>();
        for (String model : models()) {
            Set<BenchmarkEngine> engines = new LinkedHashSet<>(List.of(BenchmarkEngine.values()));
            engines.remove(BenchmarkEngine.KERNELS);
            if (Shapes.named(model).parameters() > MOST_SCALAR_PARAMETERS) {
                engines.remove(BenchmarkEngine.SCALAR);
            }
            for (Case.Pass pass : List.of(Case.Pass.DECODE, Case.Pass.PREFILL)) {
                for (DType dtype : DType.OF_MATRICES) {
                    addEngines(cases, model, Case.WHOLE_MODEL, pass, dtype, engines);
                }
            }
        }
        return cases;
    }

    /** Adds a case for each wanted engine among the possible ones, and each number of threads that it can have. */
    private void addEngines(
            List<Case> cases, String model, String op, Case.Pass pass, DType dtype, Set<BenchmarkEngine> possible) {
        if (!isWanted(OP, op) || !isWanted(PASS, lower(pass)) || !isWanted(DTYPE, lower(dtype))) {
            return;
        }
        for (BenchmarkEngine engine : engines()) {
            if (possible.contains(engine)) {
                threads(engine).forEach(threads -> cases.add(new Case(model, op, pass, dtype, engine, threads)));
            }
        }
    }

    private Collection<String> models() {
        return values(MODEL, List.of(Shapes.USUAL));
    }

    private List<BenchmarkEngine> engines() {
        List<BenchmarkEngine> usual = List.of(BenchmarkEngine.SCALAR, BenchmarkEngine.HOST, BenchmarkEngine.KERNELS);
        if (!wanted.containsKey(ENGINE)) {
            return usual;
        }
        return wanted.get(ENGINE).stream()
                .map(name -> Arrays.stream(BenchmarkEngine.values())
                        .filter(engine -> engine.toString().equals(name))
                        .findFirst()
                        .orElseThrow(() -> new InvalidRequest("there is no engine '" + name
                                + "', expected one of "
                                + Stream.of(BenchmarkEngine.values())
                                        .map(BenchmarkEngine::toString)
                                        .toList())))
                .toList();
    }

    private List<Integer> threads(BenchmarkEngine engine) {
        if (engine.onDevice()) {
            return List.of(0);
        }
        if (engine != BenchmarkEngine.HOST) {
            return List.of(1);
        }
        int all = Runtime.getRuntime().availableProcessors();
        return values(THREADS, List.of("1", Integer.toString(all))).stream()
                .map(Selection::threads)
                .distinct()
                .toList();
    }

    private static int threads(String text) {
        if (!text.matches("[1-9]\\d{0,3}")) {
            throw new InvalidRequest("threads is " + text + ", expected 1 to 9999");
        }
        return Integer.parseInt(text);
    }

    private boolean isWanted(String name, String value) {
        return !wanted.containsKey(name) || wanted.get(name).contains(value);
    }

    private Collection<String> values(String name, List<String> usual) {
        return wanted.containsKey(name) ? wanted.get(name) : usual;
    }

    private static String lower(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
