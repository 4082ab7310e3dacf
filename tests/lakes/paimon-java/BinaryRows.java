import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.BinaryVector;
import org.apache.paimon.data.Blob;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.serializer.InternalRowSerializer;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.types.RowKind;
import org.apache.paimon.types.RowType;
import org.apache.paimon.utils.JsonSerdeUtil;
import org.apache.paimon.utils.SerializationUtils;

/** Examples for codec tests: rows written by Paimon's own writer, with their fields and values. */
final class BinaryRows {
    private final List<Object> rows = new ArrayList<>();

    private BinaryRows() {}

    static Map<String, Object> all() {
        BinaryRows examples = new BinaryRows();
        examples.eachType();
        examples.lengths();
        examples.precisions();
        examples.arrays();
        examples.maps();
        examples.nested();
        examples.references();
        examples.whole();
        return Collections.singletonMap("rows", examples.rows);
    }

    /** Value, null, two more values: of every type, so that a null stands before other fields. */
    private void eachType() {
        Types.all().forEach((name, column) -> add(name, repeat((DataType) column[0], 4), GenericRow.of(column[1], null, column[2], column[3])));
    }

    private void lengths() {
        for (int length : new int[] {0, 1, 6, 7, 8, 9, 16}) {
            String text = String.join("", Collections.nCopies(length, "x"));
            DataType[] types = {DataTypes.STRING(), DataTypes.BYTES(), DataTypes.INT()};
            add("length " + length, types, GenericRow.of(Types.s(text), new byte[length], length));
        }
        DataType[] types = {DataTypes.STRING(), DataTypes.STRING(), DataTypes.STRING()};
        add("multi-byte text", types, GenericRow.of(Types.s("\u00e4\u00f6\u00fc"), Types.s("\u00e4\u00f6\u00fc\u00df"), Types.s("\uD83D\uDE00")));
    }

    private void precisions() {
        String nines = "2024-02-29T23:59:59.999999999";
        for (int precision = 0; precision <= 9; precision++) {
            String text = nines.substring(0, precision == 0 ? 19 : 20 + precision);
            DataType[] types = {
                DataTypes.TIMESTAMP(precision), DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE(precision), DataTypes.TIMESTAMP(precision)
            };
            add("timestamps of precision " + precision, types, GenericRow.of(Types.ts(text), Types.ts(text), null));
        }
        for (int precision : new int[] {1, 9, 10, 18, 19, 38}) {
            String digits = String.join("", Collections.nCopies(precision, "9"));
            DataType type = DataTypes.DECIMAL(precision, 0);
            GenericRow row =
                    GenericRow.of(Types.dec(digits, precision, 0), Types.dec("-" + digits, precision, 0), null, Types.dec("0", precision, 0));
            add("decimals of precision " + precision, repeat(type, 4), row);
        }
    }

    private void arrays() {
        Types.all().forEach(
                (name, column) -> {
                    DataType type = DataTypes.ARRAY((DataType) column[0]);
                    add("array of " + name, repeat(type, 2), GenericRow.of(Types.array(column[1], null, column[2]), Types.array()));
                });
        Object[] many = new Object[40];
        for (int i = 0; i < many.length; i++) {
            many[i] = i % 3 == 0 ? null : i % 2 == 0;
        }
        add("array of 40 booleans", repeat(DataTypes.ARRAY(DataTypes.BOOLEAN()), 1), GenericRow.of(Types.array(many)));
    }

    private void maps() {
        DataType dates = DataTypes.MAP(DataTypes.DATE(), DataTypes.TIMESTAMP(9));
        add("map of dates", repeat(dates, 1), GenericRow.of(Types.map(1, Types.ts("2024-01-01T00:00:00.000000001"), -1, null)));
        DataType decimals = DataTypes.MAP(DataTypes.BIGINT(), DataTypes.DECIMAL(38, 10));
        add("map of decimals", repeat(decimals, 1), GenericRow.of(Types.map(1L, Types.dec("-1.5", 38, 10), 2L, null)));
        DataType arrays = DataTypes.MAP(DataTypes.STRING(), DataTypes.ARRAY(DataTypes.STRING()));
        add("map of arrays", repeat(arrays, 2), GenericRow.of(Types.map(Types.s("a key of some length"), Types.array(Types.s("x"), null)), null));
        add("multiset of ints", repeat(DataTypes.MULTISET(DataTypes.INT()), 1), GenericRow.of(Types.map(7, 2, 8, 1)));
    }

    private void nested() {
        RowType inner = DataTypes.ROW(DataTypes.TIMESTAMP(6), DataTypes.DECIMAL(20, 2), DataTypes.STRING());
        RowType outer = DataTypes.ROW(DataTypes.INT(), inner, DataTypes.ARRAY(inner));
        GenericRow nulls = GenericRow.of(null, null, null);
        GenericRow full = GenericRow.of(Types.ts("2024-01-01T00:00:00.000001"), Types.dec("1.25", 20, 2), Types.s("eight888"));
        add("rows in rows", new DataType[] {outer, DataTypes.INT()}, GenericRow.of(GenericRow.of(1, full, Types.array(nulls, full, null)), 9));
        add("row of nulls", new DataType[] {outer, inner}, GenericRow.of(GenericRow.of(null, nulls, null), null));
        DataType arrays = DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.INT()));
        add("array of arrays", repeat(arrays, 1), GenericRow.of(Types.array(Types.array(1, 2), null, Types.array())));
        DataType[] variants = {DataTypes.VARIANT(), DataTypes.ARRAY(DataTypes.VARIANT())};
        add("variants", variants, GenericRow.of(Types.variant("{\"b\":[true,null],\"a\":\"text\"}"), Types.array(Types.variant("1"), null)));
    }

    private void references() {
        DataType[] vectors = {DataTypes.INT(), DataTypes.VECTOR(3, DataTypes.FLOAT()), DataTypes.VECTOR(2, DataTypes.BIGINT())};
        GenericRow row =
                GenericRow.of(1, BinaryVector.fromPrimitiveArray(new float[] {1f, 2f, -0.5f}), BinaryVector.fromPrimitiveArray(new long[] {1L << 60, -1L}));
        add("vectors", vectors, row);
        DataType[] blobs = {DataTypes.BLOB(), DataTypes.BLOB(), DataTypes.INT()};
        add("blobs", blobs, GenericRow.of(Blob.fromData(Types.bytes(1, 2, 3)), Blob.fromData(new byte[20]), 7));
    }

    private void whole() {
        add("no fields", new DataType[0], new GenericRow(0));
        for (RowKind kind : RowKind.values()) {
            add("kind " + kind.shortString(), repeat(DataTypes.INT(), 2), GenericRow.ofKind(kind, 1, null));
        }
        Map<String, Object[]> columns = Types.all();
        DataType[] types = columns.values().stream().map(column -> (DataType) column[0]).toArray(DataType[]::new);
        for (int which = 0; which <= 3; which++) {
            add("every type, sample " + which, types, Types.sample(columns, which));
        }
        for (int arity : new int[] {56, 57, 120, 121}) {
            GenericRow row = new GenericRow(arity);
            for (int i = 0; i < arity - 1; i++) {
                row.setField(i, i % 10 == 9 ? null : (byte) i);
            }
            add(arity + " fields", repeat(DataTypes.TINYINT(), arity), row);
        }
    }

    private static DataType[] repeat(DataType type, int times) {
        return Collections.nCopies(times, type).toArray(new DataType[0]);
    }

    private void add(String name, DataType[] types, GenericRow row) {
        List<Object> fields = new ArrayList<>();
        for (int i = 0; i < types.length; i++) {
            fields.add(new Json.Raw(JsonSerdeUtil.toFlatJson(new DataField(i, "f" + i, types[i]))));
        }
        BinaryRow binary = new InternalRowSerializer(types).toBinaryRow(row);
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("name", name);
        out.put("fields", fields);
        out.put("kind", row.getRowKind().shortString());
        out.put("values", Json.list(binary, java.util.Arrays.asList(types)));
        out.put("hex", Json.hex(SerializationUtils.serializeBinaryRow(binary)));
        rows.add(out);
    }
}
