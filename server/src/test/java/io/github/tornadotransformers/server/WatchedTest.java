package io.github.tornadotransformers.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.generation.Sequence;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class WatchedTest {
    /** What is left to an interface's default is no longer the sequence's own. */
    @Test
    void everythingIsHandedOn() {
        for (Method asked : Sequence.class.getMethods()) {
            assertThat(Arrays.stream(Watched.class.getDeclaredMethods()))
                    .as(asked.toString())
                    .anyMatch(own -> own.getName().equals(asked.getName())
                            && Arrays.equals(own.getParameterTypes(), asked.getParameterTypes()));
        }
    }
}
