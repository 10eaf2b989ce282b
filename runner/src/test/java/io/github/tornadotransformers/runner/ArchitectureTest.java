package io.github.tornadotransformers.runner;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import io.github.tornadotransformers.models.program.Op;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may know whom: the table of modules in ARCHITECTURE.md, and no cycles within a module. */
class ArchitectureTest {
    private static final String ROOT = "io.github.tornadotransformers.";
    private static final String MODELS = ROOT + "models..";
    private static final String HOST = ROOT + "host..";
    private static final String KERNELS = ROOT + "kernels..";
    private static final String TASK_GRAPHS = ROOT + "taskgraphs..";
    private static final String ENGINE = ROOT + "engine..";
    private static final String SERVER = ROOT + "server..";
    private static final String RUNNER = ROOT + "runner..";
    private static final String BENCHMARKS = ROOT + "benchmarks..";
    private static final String TRAINING = ROOT + "training..";
    private static final String EMULATOR = ROOT + "emulator..";
    private static final String TORNADO = "uk.ac.manchester.tornado..";
    private static final String JAVA = "java..";

    private static JavaClasses all;

    /** Of every module that has been built, whether the runner depends on it or not. */
    @BeforeAll
    static void readClasses() throws IOException {
        try (Stream<Path> modules = Files.list(Path.of("..").toAbsolutePath())) {
            List<Path> folders = modules.map(module -> module.resolve("target/classes"))
                    .filter(Files::isDirectory)
                    .toList();
            all = new ClassFileImporter().importPaths(folders);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"models", "host", "kernels", "engine", "server", "runner"})
    void classesAreFound(String module) {
        assertThat(all).anyMatch(each -> each.getPackageName().startsWith(ROOT + module));
    }

    @Test
    void modelsKnowNoEngine() {
        rule(noClasses()
                .that()
                .resideInAPackage(MODELS)
                .should()
                .dependOnClassesThat(project().and(not(MODELS))));
        rule(noClasses()
                .that()
                .resideInAPackage(MODELS)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(TORNADO));
    }

    @Test
    void referenceKnowsOnlyModels() {
        rule(noClasses()
                .that()
                .resideInAPackage(HOST)
                .should()
                .dependOnClassesThat(project().and(not(MODELS, HOST))));
        rule(noClasses()
                .that()
                .resideInAPackage(HOST)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(TORNADO));
    }

    @Test
    void trainingKnowsModelsAndTheReference() {
        rule(noClasses()
                .that()
                .resideInAPackage(TRAINING)
                .should()
                .dependOnClassesThat(project().and(not(MODELS, HOST, TRAINING))));
    }

    @Test
    void kernelsKnowOnlyTornadoAndJava() {
        rule(classes()
                .that()
                .resideInAPackage(KERNELS)
                .should()
                .onlyDependOnClassesThat(
                        resideInAnyPackage(KERNELS, TORNADO, JAVA).or(primitives())));
    }

    @Test
    void taskGraphsKnowModelsAndKernels() {
        rule(noClasses()
                .that()
                .resideInAPackage(TASK_GRAPHS)
                .should()
                .dependOnClassesThat(project().and(not(MODELS, KERNELS, TASK_GRAPHS))));
    }

    /** Each package knows those before it. */
    @Test
    void taskGraphsAreBuiltInLayers() {
        List<String> layers = Stream.of("devices", "memory", "graphs", "probe", "training")
                .map(layer -> ROOT + "taskgraphs." + layer + "..")
                .toList();
        assertThat(all.that(resideInAPackage(TASK_GRAPHS)))
                .allMatch(each -> layers.stream()
                        .anyMatch(layer -> resideInAPackage(layer).test(each)));
        for (int layer = 0; layer < layers.size(); layer++) {
            rule(noClasses()
                    .that()
                    .resideInAPackage(layers.get(layer))
                    .should()
                    .dependOnClassesThat(resideInAnyPackage(
                            layers.subList(layer + 1, layers.size()).toArray(String[]::new))));
        }
    }

    /** And nothing that its users would have to bring or to avoid. */
    @Test
    void engineKnowsModelsTheReferenceAndTaskGraphs() {
        rule(noClasses()
                .that()
                .resideInAPackage(ENGINE)
                .should()
                .dependOnClassesThat(project().and(not(MODELS, HOST, TASK_GRAPHS, ENGINE))));
        rule(noClasses()
                .that()
                .resideInAPackage(ENGINE)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(TORNADO));
    }

    /** HTTP is the server's alone, and it knows models by way of the engine. */
    @Test
    void serverKnowsTheEngineAndModels() {
        rule(noClasses()
                .that()
                .resideInAPackage(SERVER)
                .should()
                .dependOnClassesThat(project().and(not(MODELS, ENGINE, SERVER))));
        rule(noClasses()
                .that(project().and(not(SERVER)))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.eclipse.jetty..", "io.prometheus.."));
    }

    @Test
    void nobodyKnowsTheEmulatorOrTheRunnerAndOnlyTheRunnerKnowsBenchmarks() {
        rule(noClasses()
                .that(project().and(not(EMULATOR)))
                .should()
                .dependOnClassesThat()
                .resideInAPackage(EMULATOR));
        rule(noClasses()
                .that(project().and(not(RUNNER)))
                .should()
                .dependOnClassesThat()
                .resideInAPackage(RUNNER));
        rule(noClasses()
                .that(project().and(not(RUNNER, BENCHMARKS)))
                .should()
                .dependOnClassesThat()
                .resideInAPackage(BENCHMARKS));
    }

    @Test
    void standInKnowsNothingOfTheProject() {
        rule(noClasses()
                .that(resideInAPackage(TORNADO))
                .should()
                .dependOnClassesThat(project().and(not(EMULATOR))));
        rule(noClasses()
                .that()
                .resideInAPackage(EMULATOR)
                .should()
                .dependOnClassesThat(project().and(not(EMULATOR))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"models", "host", "training", "taskgraphs", "engine", "server", "runner"})
    void packagesOfAModuleHaveNoCycles(String module) {
        rule(slices().matching(ROOT + module + ".(**)").should().beFreeOfCycles());
    }

    @Test
    void commandsAreTheOnlyUsersOfTheOptionParser() {
        rule(noClasses()
                .that(project().and(not(ROOT + "runner.commands..")))
                .should()
                .dependOnClassesThat()
                .resideInAPackage("picocli.."));
    }

    @Test
    void opIsSealed() {
        assertThat(Op.class.isSealed()).isTrue();
        assertThat(Stream.of(Op.class.getPermittedSubclasses())).isNotEmpty().allMatch(Class::isRecord);
    }

    /** A rule about a module that is empty so far holds. */
    private static void rule(ArchRule rule) {
        rule.allowEmptyShould(true).check(all);
    }

    private static DescribedPredicate<JavaClass> project() {
        return resideInAPackage(ROOT + ".");
    }

    private static DescribedPredicate<JavaClass> not(String... packages) {
        return DescribedPredicate.not(resideInAnyPackage(packages));
    }

    private static DescribedPredicate<JavaClass> primitives() {
        return DescribedPredicate.describe(
                "primitives and arrays of them",
                each -> each.getBaseComponentType().isPrimitive());
    }
}
