package io.github.tornadotransformers.models;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WordingTest {
    @Test
    void termsAreNamedAsTheReaderNamesThem() {
        InvalidRequest refused = new InvalidRequest(
                Wording.of("%s is %.1f, expected %d or less: raise %s", Term.TOP_P, 1.5, 1, Term.CONTEXT));
        assertThat(refused).hasMessage("topP is 1.5, expected 1 or less: raise context");
        assertThat(refused.message(term -> "--" + term))
                .isEqualTo("--topP is 1.5, expected 1 or less: raise --context");
    }

    @Test
    void partsAreNamedToo() {
        Wording advice = Wording.of("try %s", Term.DTYPE);
        Wording whole = Wording.of("too large: %s", advice);
        assertThat(whole.with(_ -> "-d")).isEqualTo("too large: try -d");
    }

    @Test
    void aTextIsNoFormat() {
        assertThat(new CheckpointException("100 %s of %")).hasMessage("100 %s of %");
        assertThat(new CheckpointException("100 %s of %").message(_ -> "")).isEqualTo("100 %s of %");
    }
}
