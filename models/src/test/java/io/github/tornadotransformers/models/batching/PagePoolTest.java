package io.github.tornadotransformers.models.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PagePoolTest {
    private final List<Integer> freed = new ArrayList<>();
    private final PagePool pool = new PagePool(3, freed::add);

    @Test
    void aPageIsFreeWhenItsLastHolderHasLetGo() {
        List<Integer> taken = pool.take(2);
        assertThat(taken).containsExactly(0, 1);
        pool.hold(0);
        pool.release(taken);
        assertThat(freed).containsExactly(1);
        assertThat(pool.free()).isEqualTo(2);
        pool.release(List.of(0));
        assertThat(freed).containsExactly(1, 0);
        assertThat(pool.free()).isEqualTo(3);
    }

    @Test
    void useCountsPagesAndThoseOfSeveralHolders() {
        List<Integer> taken = pool.take(2);
        assertThat(pool.use()).isEqualTo(new CacheUse(3, 2, 0));
        pool.hold(0);
        pool.hold(0);
        pool.hold(1);
        assertThat(pool.use()).isEqualTo(new CacheUse(3, 2, 2));
        pool.release(List.of(0, 1));
        assertThat(pool.use()).isEqualTo(new CacheUse(3, 2, 1));
        pool.release(List.of(0));
        assertThat(pool.use()).isEqualTo(new CacheUse(3, 2, 0));
        pool.release(taken);
        assertThat(pool.use()).isEqualTo(new CacheUse(3, 0, 0));
    }

    @Test
    void tooFewPagesAreNone() {
        assertThat(pool.take(2)).hasSize(2);
        assertThat(pool.take(2)).isEmpty();
        assertThat(pool.free()).isEqualTo(1);
        assertThat(pool.take(1)).containsExactly(2);
    }

    @Test
    void usedPagesAreTakenBeforeNewOnes() {
        pool.release(pool.take(1));
        assertThat(pool.take(2)).containsExactlyInAnyOrder(0, 1);
    }

    @Test
    void aPoolHasPages() {
        assertThatThrownBy(() -> new PagePool(0, freed::add)).hasMessage("a pool of 0 pages, expected at least 1");
    }
}
