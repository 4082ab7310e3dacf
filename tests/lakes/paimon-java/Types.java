import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.GenericArray;
import org.apache.paimon.data.GenericMap;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.data.variant.GenericVariant;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.types.RowKind;

/** Sample types and values: for each column name a type, an ordinary value, a low one and a high one. */
final class Types {
    private Types() {}

    static BinaryString s(String text) {
        return text == null ? null : BinaryString.fromString(text);
    }

    static Decimal dec(String text, int precision, int scale) {
        return Decimal.fromBigDecimal(new BigDecimal(text), precision, scale);
    }

    static int date(String iso) {
        return (int) LocalDate.parse(iso).toEpochDay();
    }

    static int time(String iso) {
        return (int) (LocalTime.parse(iso).toNanoOfDay() / 1_000_000);
    }

    static Timestamp ts(String iso) {
        return Timestamp.fromLocalDateTime(LocalDateTime.parse(iso));
    }

    static byte[] bytes(int... values) {
        byte[] out = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            out[i] = (byte) values[i];
        }
        return out;
    }

    static GenericArray array(Object... values) {
        return new GenericArray(values);
    }

    static GenericMap map(Object... pairs) {
        Map<Object, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            map.put(pairs[i], pairs[i + 1]);
        }
        return new GenericMap(map);
    }

    static GenericRow row(Object... values) {
        return GenericRow.of(values);
    }

    static GenericRow kind(RowKind kind, Object... values) {
        return GenericRow.ofKind(kind, values);
    }

    /** name -> {type, three values}: types that may be keys and partitions come first. */
    static Map<String, Object[]> atoms() {
        Map<String, Object[]> out = new LinkedHashMap<>();
        put(out, "bool", DataTypes.BOOLEAN(), true, false, true);
        put(out, "ti", DataTypes.TINYINT(), (byte) 5, Byte.MIN_VALUE, Byte.MAX_VALUE);
        put(out, "si", DataTypes.SMALLINT(), (short) -300, Short.MIN_VALUE, Short.MAX_VALUE);
        put(out, "i", DataTypes.INT(), 42, Integer.MIN_VALUE, Integer.MAX_VALUE);
        put(out, "bi", DataTypes.BIGINT(), 9007199254740993L, Long.MIN_VALUE, Long.MAX_VALUE);
        put(out, "f", DataTypes.FLOAT(), 0.1f, -Float.MAX_VALUE, Float.POSITIVE_INFINITY);
        put(out, "d", DataTypes.DOUBLE(), 0.1, -Double.MAX_VALUE, Double.MAX_VALUE);
        put(out, "dec10", DataTypes.DECIMAL(10, 2), dec("-123.45", 10, 2), dec("-99999999.99", 10, 2), dec("99999999.99", 10, 2));
        put(
                out,
                "dec38",
                DataTypes.DECIMAL(38, 10),
                dec("0.0000000001", 38, 10),
                dec("-9999999999999999999999999999.9999999999", 38, 10),
                dec("1234567890123456789012345678.0123456789", 38, 10));
        put(out, "ch", DataTypes.CHAR(5), s("abcde"), s("aaaaa"), s("zzzzz"));
        put(out, "vc", DataTypes.VARCHAR(20), s("seven77"), s("eight888"), s("größe"));
        put(out, "str", DataTypes.STRING(), s("a string longer than the sixteen"), s("1234567"), s("\uD83D\uDE00 12345678"));
        put(out, "dt", DataTypes.DATE(), date("2024-02-29"), date("1901-01-01"), date("9999-12-31"));
        put(out, "t0", DataTypes.TIME(0), time("13:14:15"), time("00:00:00"), time("23:59:59"));
        put(out, "t3", DataTypes.TIME(3), time("13:14:15.678"), time("00:00:00.001"), time("23:59:59.999"));
        put(out, "ts0", DataTypes.TIMESTAMP(0), ts("2024-02-29T13:14:15"), ts("1969-12-31T23:59:59"), ts("2999-01-01T00:00:00"));
        put(out, "ts3", DataTypes.TIMESTAMP(3), ts("2024-02-29T13:14:15.678"), ts("1969-12-31T23:59:59.999"), ts("2999-01-01T00:00:00.001"));
        put(out, "ts6", DataTypes.TIMESTAMP(6), ts("2024-02-29T13:14:15.678901"), ts("1969-12-31T23:59:59.999999"), ts("2999-01-01T00:00:00.000001"));
        put(out, "ts9", DataTypes.TIMESTAMP(9), ts("2024-02-29T13:14:15.678901234"), ts("1969-12-31T23:59:59.999999999"), ts("2199-01-01T00:00:00.000000001"));
        put(out, "ltz3", DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE(3), ts("2024-02-29T13:14:15.678"), ts("1969-12-31T23:59:59.999"), ts("2999-01-01T00:00:00.001"));
        put(out, "ltz6", DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE(6), ts("2024-02-29T13:14:15.678901"), ts("1969-12-31T23:59:59.999999"), ts("2999-01-01T00:00:00.000001"));
        return out;
    }

    /** The atoms, then the types only values may have. */
    static Map<String, Object[]> all() {
        Map<String, Object[]> out = atoms();
        put(out, "bin", DataTypes.BINARY(4), bytes(0xca, 0xfe, 0xba, 0xbe), bytes(0, 0, 0, 0), bytes(255, 255, 255, 255));
        put(out, "vb", DataTypes.BYTES(), bytes(1, 2, 3), bytes(), bytes(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18));
        put(out, "arr", DataTypes.ARRAY(DataTypes.INT()), array(1, null, 3), array(), array(7));
        put(out, "arrs", DataTypes.ARRAY(DataTypes.STRING()), array(s("x"), null), array(s("12345678")), array());
        put(out, "mp", DataTypes.MAP(DataTypes.STRING(), DataTypes.INT()), map(s("k"), 9), map(s("a"), 1, s("b"), null), map());
        put(out, "ms", DataTypes.MULTISET(DataTypes.STRING()), map(s("z"), 2), map(s("y"), 1), map(s("x"), 3));
        put(out, "r", rowType(), row(5, s("x")), row(null, s("nested and long")), row(6, null));
        put(out, "v", DataTypes.VARIANT(), variant("{\"a\":1}"), variant("[1,\"two\",null]"), variant("3.5"));
        return out;
    }

    static DataType rowType() {
        return DataTypes.ROW(new DataField(0, "a", DataTypes.INT()), new DataField(1, "b", DataTypes.STRING()));
    }

    static GenericVariant variant(String json) {
        return GenericVariant.fromJson(json);
    }

    private static void put(Map<String, Object[]> out, String name, DataType type, Object... values) {
        out.put(name, new Object[] {type, values[0], values[1], values[2]});
    }

    /** A map without the named columns, for formats that cannot hold them. */
    static Map<String, Object[]> without(Map<String, Object[]> columns, String... names) {
        Map<String, Object[]> out = new LinkedHashMap<>(columns);
        for (String name : names) {
            out.remove(name);
        }
        return out;
    }

    /** Leading values, then sample number `which` (1 to 3) of each column, or null for 0. */
    static GenericRow sample(Map<String, Object[]> columns, int which, Object... leading) {
        GenericRow out = new GenericRow(leading.length + columns.size());
        for (int i = 0; i < leading.length; i++) {
            out.setField(i, leading[i]);
        }
        int i = leading.length;
        for (Object[] column : columns.values()) {
            out.setField(i++, which == 0 ? null : column[which]);
        }
        return out;
    }
}
