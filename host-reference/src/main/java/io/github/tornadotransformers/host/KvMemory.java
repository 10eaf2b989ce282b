package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.batching.PagedCache;
import io.github.tornadotransformers.models.program.Program;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The pages of all caches of an engine by their numbers, made when they are first asked for and used again and again. */
final class KvMemory {
    private final Program program;
    private final List<KvPage> pages = new ArrayList<>();

    KvMemory(Program program) {
        this.program = program;
    }

    KvPage page(int number) {
        while (pages.size() <= number) {
            pages.add(new KvPage(program.attention(), program.layers()));
        }
        return pages.get(number);
    }

    /** What a sequence has in a layer. */
    KvLayer layer(PagedCache cache, int layer) {
        List<KvPage> own = IntStream.range(0, cache.pages())
                .map(cache::page)
                .mapToObj(this::page)
                .toList();
        return KvLayer.of(program.attention(), own, layer);
    }
}
