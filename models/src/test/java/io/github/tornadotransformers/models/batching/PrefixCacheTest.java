package io.github.tornadotransformers.models.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.testsupport.RandomConfigs;
import io.github.tornadotransformers.testsupport.RandomData;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which pages a text finds, and which go first. */
class PrefixCacheTest {
    private static final int PAGE = AttentionShape.PAGE;

    private final List<String> copies = new ArrayList<>();
    private final List<Integer> freed = new ArrayList<>();
    private final PagedCaches caches =
            new PagedCaches(RandomConfigs.of(new RandomData(1), 8 * PAGE).program(8 * PAGE), 8, new PageMemory() {
                @Override
                public void freed(int page) {
                    freed.add(page);
                }

                @Override
                public void copy(int from, int to) {
                    copies.add(from + " to " + to);
                }
            });

    private static int[] text(int length, int seed) {
        return IntStream.range(0, length).map(i -> i + seed).toArray();
    }

    /** A sequence that has run a text and is over. */
    private void run(int[] text) {
        try (PagedCache cache = caches.open(text.length)) {
            cache.reuse(text);
            cache.reserve(text.length);
            cache.setLength(text.length);
            cache.share(text);
        }
    }

    private int reused(int[] text) {
        try (PagedCache cache = caches.open(text.length)) {
            int length = cache.reuse(text);
            assertThat(cache.length()).isEqualTo(length);
            assertThat(cache.pages()).isEqualTo(AttentionShape.pages(length));
            return length;
        }
    }

    @Test
    void wholePagesAreSharedAndTheRestIsCopied() {
        run(text(300, 0));
        assertThat(reused(text(300, 0))).isEqualTo(299);
        assertThat(copies).containsExactly("2 to 3");
        assertThat(reused(text(900, 0))).isEqualTo(300);
        assertThat(reused(Arrays.copyOf(text(300, 0), 400))).isEqualTo(300);
        assertThat(reused(text(2 * PAGE + 1, 0))).isEqualTo(2 * PAGE);
        assertThat(copies).hasSize(3);
    }

    @Test
    void anotherTextFindsNothing() {
        run(text(300, 0));
        assertThat(reused(text(300, 1))).isZero();
        assertThat(reused(text(1, 0))).isZero();
    }

    @Test
    void aTextThatDiffersInThePageFindsWhatIsBefore() {
        run(text(300, 0));
        int[] other = text(300, 0);
        other[PAGE + 5] = -1;
        assertThat(reused(other)).isEqualTo(PAGE + 5);
        other[0] = -1;
        assertThat(reused(other)).isZero();
    }

    @Test
    void theMoreFittingOfTwoTextsIsFound() {
        int[] other = text(PAGE, 0);
        Arrays.fill(other, 10, PAGE, -1);
        run(other);
        run(text(PAGE, 0));
        int[] near = text(PAGE, 0);
        Arrays.fill(near, 20, PAGE, -2);
        assertThat(reused(near)).isEqualTo(20);
        Arrays.fill(near, 10, PAGE, -1);
        assertThat(reused(near)).isEqualTo(PAGE - 1);
    }

    /** The page of a text that grows is kept once. */
    @Test
    void aTextThatGoesOnIsKnownFurther() {
        try (PagedCache cache = caches.open(200)) {
            cache.reserve(200);
            cache.setLength(200);
            cache.share(text(100, 0));
            cache.share(text(190, 0));
            cache.share(text(150, 0));
        }
        assertThat(reused(text(200, 0))).isEqualTo(190);
        assertThat(freed).hasSize(1); // the copy
        run(text(200, 0));
        assertThat(reused(text(250, 0))).isEqualTo(200);
    }

    @Test
    void pagesThatWereUsedLeastRecentlyGoFirst() {
        run(text(2 * PAGE, 0));
        run(text(2 * PAGE, 1000));
        run(text(2 * PAGE, 2000));
        assertThat(reused(text(2 * PAGE, 0))).isEqualTo(2 * PAGE - 1);
        freed.clear();
        try (PagedCache other = caches.open(3 * PAGE)) {
            assertThat(other.reserve(3 * PAGE)).isTrue();
        }
        assertThat(reused(text(2 * PAGE, 0))).isEqualTo(2 * PAGE - 1);
        assertThat(reused(text(2 * PAGE, 1000))).isEqualTo(PAGE);
        assertThat(reused(text(2 * PAGE, 2000))).isEqualTo(2 * PAGE - 1);
    }

    @Test
    void pagesInUseAreNeverGivenAway() {
        run(text(2 * PAGE, 0));
        try (PagedCache holder = caches.open(3 * PAGE)) {
            assertThat(holder.reuse(text(3 * PAGE, 0))).isEqualTo(2 * PAGE);
            try (PagedCache other = caches.open(7 * PAGE)) {
                assertThat(other.reserve(7 * PAGE)).isFalse();
                assertThat(other.reserve(6 * PAGE)).isTrue();
            }
        }
        assertThat(reused(text(3 * PAGE, 0))).isEqualTo(2 * PAGE);
    }

    /** Of 8 pages, 8 are kept. */
    @Test
    void whereNoPageIsLeftForACopyThePageItselfIsTaken() {
        run(text(8 * PAGE, 0));
        assertThat(reused(text(8 * PAGE, 0))).isEqualTo(8 * PAGE - 1);
        assertThat(copies).isEmpty();
        assertThat(freed).containsExactly(7);
        assertThat(reused(text(8 * PAGE, 0))).isEqualTo(7 * PAGE);
    }

    @Test
    void aPageThatOthersHaveIsNotTaken() {
        run(text(8 * PAGE, 0));
        try (PagedCache holder = caches.open(8 * PAGE)) {
            int[] other = text(8 * PAGE, 0);
            other[8 * PAGE - 1] = -1;
            assertThat(holder.reuse(other)).isEqualTo(8 * PAGE - 1);
            holder.setLength(8 * PAGE - 1);
            holder.share(text(8 * PAGE - 1, 0));
            assertThat(reused(text(8 * PAGE, 0))).isEqualTo(7 * PAGE);
        }
        assertThat(copies).isEmpty();
    }

    @Test
    void onlyAnEmptyCacheTakesOver() {
        try (PagedCache cache = caches.open(5)) {
            cache.reserve(1);
            assertThatThrownBy(() -> cache.reuse(text(5, 0)))
                    .hasMessage("the cache is closed, or holds positions already");
            assertThatThrownBy(() -> cache.share(text(1, 0))).hasMessage("1 tokens, but the cache holds 0");
        }
    }
}
