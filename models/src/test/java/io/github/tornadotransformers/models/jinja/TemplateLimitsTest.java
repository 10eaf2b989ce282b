package io.github.tornadotransformers.models.jinja;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.tornadotransformers.testsupport.Fuzzing;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A template is code from outside: whatever it does, it ends soon, in its text or in a {@link TemplateException}. */
@Timeout(60)
class TemplateLimitsTest {
    private static final String NESTED = "{% for i in range(100000) %}";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
                "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
                "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
                "{{ 'x' * 9000000000 }}",
                "{{ [1] * 9000000000000000000 }}",
                "{{ 'aaaa'.replace('a', 'b' * 100000000) }}",
                "{{ ('a' * 100000).replace('a', 'b' * 100000) }}",
                "{{ '%9999999d' % 1 }}",
                "{{ '{:999999999}'.format(1) }}",
                "{{ 'a'.center(100000000) }}",
                "{{ 'a' | center(100000000) }}",
                "{{ 'a\n' * 10000 | indent(100000000) }}",
                "{{ range(1000000) }}",
                "{{ range(0, 9223372036854775807) | list }}",
                "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
                "{% macro f(x) %}{{ f(x ~ x) }}{% endmacro %}{{ f('abcdefgh') }}",
                "{{ 9223372036854775807 + 1 }}",
                "{{ 99 ** 99 }}",
                "{% for i in range(100000) %}{{ 'x' * 100000 }}{% endfor %}",
            })
    void whatIsTooMuchIsRefused(String template) {
        assertThatExceptionOfType(TemplateException.class).isThrownBy(() -> render(template));
    }

    @Test
    void whatIsNestedTooDeeplyIsRefused() {
        for (String template : List.of(
                "{{ " + "(".repeat(100_000) + "1" + ")".repeat(100_000) + " }}",
                "{{ " + "[".repeat(100_000) + "]".repeat(100_000) + " }}",
                "{{ " + "-".repeat(100_000) + "1 }}",
                "{{ " + "not ".repeat(100_000) + "1 }}",
                "{{ 1" + " + 1".repeat(100_000) + " }}",
                "{{ x" + ".x".repeat(100_000) + " }}",
                "{{ 1" + " if 1 else 1".repeat(100_000) + " }}",
                "{% if 1 %}".repeat(100_000),
                NESTED.repeat(1000))) {
            assertThatExceptionOfType(TemplateException.class)
                    .as(template.substring(0, 40))
                    .isThrownBy(() -> render(template));
        }
    }

    @Test
    void valuesOutsideAreNotReached() {
        Map<String, Object> values = Map.of("list", List.of(1L), "text", "a");
        for (String expression : List.of(
                "text.getClass()",
                "text.class",
                "list.getClass().forName('java.lang.Runtime')",
                "list.stream()",
                "text.chars()")) {
            String template = "{{ " + expression + " }}";
            try {
                assertThat(Template.parse(template).render(values, InstantSource.system(), Limits.DEFAULT))
                        .as(expression)
                        .isEmpty();
            } catch (TemplateException e) {
                assertThat(e).hasMessageContaining("line 1");
            }
        }
    }

    @Test
    void theDateIsTheClocks() {
        InstantSource noon = InstantSource.fixed(Instant.parse("2026-07-04T12:00:00Z"));
        assertThat(Template.parse("{{ strftime_now('%d %b %Y|%A %B %-d|%y-%m|%j %%') }}")
                        .render(Map.of(), noon, Limits.DEFAULT))
                .isEqualTo("04 Jul 2026|Saturday July 4|26-07|185 %");
    }

    /** Mutants of the goldens' templates. */
    @Test
    void brokenTemplatesAreRefusedInWords() throws IOException {
        List<String> sound = IntStream.range(
                        0, TemplateGoldens.read("language.json").get("language").size())
                .mapToObj(i -> TemplateGoldens.read("language.json")
                        .get("language")
                        .get(i)
                        .get("template")
                        .textValue())
                .toList();
        new Fuzzing("jinja", List.of(TemplateException.class)).run(400, (random, folder) -> {
            String template = mutated(sound.get(random.nextInt(sound.size())), random);
            Files.writeString(folder.resolve("template.jinja"), template);
            Template.parse(template)
                    .render(
                            Map.of("name", "Ada", "numbers", List.of(1L, 2L)),
                            InstantSource.system(),
                            new Limits(100_000, 1_000_000));
        });
    }

    private static String mutated(String template, SplittableRandom random) {
        StringBuilder text = new StringBuilder(template);
        for (int i = random.nextInt(4); i >= 0; i--) {
            int at = random.nextInt(text.length() + 1);
            switch (random.nextInt(3)) {
                case 0 -> text.delete(at, Math.min(text.length(), at + 1 + random.nextInt(4)));
                case 1 -> text.insert(at, "{}%-+()[]|.'\"~ #in:=,*/1a\n".charAt(random.nextInt(26)));
                default -> {
                    int from = random.nextInt(text.length() + 1);
                    text.insert(at, text.substring(from, Math.min(text.length(), from + random.nextInt(12))));
                }
            }
        }
        return text.toString();
    }

    private static String render(String template) {
        long started = System.nanoTime();
        try {
            return Template.parse(template).render(Map.of(), InstantSource.system(), Limits.DEFAULT);
        } finally {
            assertThat(Duration.ofNanos(System.nanoTime() - started)).isLessThan(Duration.ofSeconds(30));
        }
    }
}
