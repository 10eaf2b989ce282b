package io.github.tornadotransformers.runner.commands;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.runner.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class OptionNamesTest {
    private static final List<String> COMMANDS = List.of("llama", "batch", "verify", "perplexity", "bench", "train");
    private static final Pattern OPTION = Pattern.compile("(?m)(?<=^ {2,8}|, )--?[a-z][a-z-]*");
    private static final Pattern STRING = Pattern.compile("\"(?:[^\"\\\\\n]|\\\\.)*\"");
    private static final Pattern WORD = Pattern.compile("(?<![\\w-])--?[a-z][a-z-]*");

    private static Set<String> options() {
        return COMMANDS.stream()
                .map(command -> CommandRun.of(command, "--help").out())
                .flatMap(help -> OPTION.matcher(help).results().map(MatchResult::group))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @ParameterizedTest
    @EnumSource
    void aTermThatIsAnOptionIsOneOfACommand(Term term) {
        String name = OptionNames.of(term);
        if (name.startsWith("-")) {
            assertThat(options()).contains(name);
        }
    }

    /** Their messages hold terms, which only the command line spells. */
    @ParameterizedTest
    @ValueSource(strings = {"models", "host-reference", "kernels", "training", "engine"})
    void noModuleBelowSpeaksOfOptions(String module) throws IOException {
        Set<String> options = options();
        assertThat(options).contains("--context", "-e");
        try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "main", "java"))) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                Stream<String> words = STRING.matcher(Files.readString(file))
                        .results()
                        .flatMap(text -> WORD.matcher(text.group().substring(1)).results())
                        .map(MatchResult::group);
                assertThat(words).as("%s", file).doesNotContainAnyElementsOf(options);
            }
        }
    }
}
