package io.github.tornadotransformers.host;

/** Where {@link PanelProduct} gets a panel of a matrix from: {@code columns} adjacent columns, at most its width. */
@FunctionalInterface
interface PanelSource {
    /** {@code panel[k * PanelProduct.COLUMNS + c] = } the matrix's element {@code [row + k][c]} for {@code k < rows}. */
    void copy(int row, int rows, float[] panel);

    /** Element {@code [k][c]} is {@code matrix[offset + k * stride + c]}. */
    static PanelSource rowsOf(float[] matrix, int offset, int stride, int columns) {
        return (row, rows, panel) -> {
            for (int k = 0; k < rows; k++) {
                System.arraycopy(matrix, offset + (row + k) * stride, panel, k * PanelProduct.COLUMNS, columns);
            }
        };
    }

    /** Element {@code [t][c]} is element {@code first + c} of the value at position t; the rows are of one page. */
    static PanelSource valuesOf(KvLayer cache, int kvHead, int first, int columns, KvRows values) {
        return (position, rows, panel) -> {
            cache.showValues(kvHead, position, rows, first, columns, values);
            rowsOf(values.elements(), values.first(), values.stride(), columns).copy(0, rows, panel);
        };
    }

    /** Element {@code [k][c]} is {@code matrix[offset + c * stride + k]}. */
    static PanelSource columnsOf(float[] matrix, int offset, int stride, int columns) {
        return (row, rows, panel) -> {
            for (int c = 0; c < columns; c++) {
                int from = offset + c * stride + row;
                for (int k = 0; k < rows; k++) {
                    panel[k * PanelProduct.COLUMNS + c] = matrix[from + k];
                }
            }
        };
    }
}
