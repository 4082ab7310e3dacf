import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.data.Blob;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.InternalArray;
import org.apache.paimon.data.InternalMap;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.data.variant.Variant;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypeChecks;
import org.apache.paimon.types.IntType;
import org.apache.paimon.types.MapType;
import org.apache.paimon.types.MultisetType;
import org.apache.paimon.types.RowType;
import org.apache.paimon.types.VectorType;

/** Paimon's internal values as plain JSON values, by the conventions of README.md, and JSON as text. */
final class Json {
    /** Text that is JSON already. */
    static final class Raw {
        private final String text;

        Raw(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    private Json() {}

    static Map<String, Object> object(InternalRow row, RowType type) {
        Map<String, Object> out = new LinkedHashMap<>();
        List<DataField> fields = type.getFields();
        for (int i = 0; i < fields.size(); i++) {
            out.put(fields.get(i).name(), field(row, i, fields.get(i).type()));
        }
        return out;
    }

    static List<Object> list(InternalRow row, List<DataType> types) {
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < types.size(); i++) {
            out.add(field(row, i, types.get(i)));
        }
        return out;
    }

    static Object field(InternalRow row, int pos, DataType type) {
        return row.isNullAt(pos) ? null : value(InternalRow.createFieldGetter(type, pos).getFieldOrNull(row), type);
    }

    static Object value(Object v, DataType type) {
        if (v == null) {
            return null;
        }
        switch (type.getTypeRoot()) {
            case DATE:
                return LocalDate.ofEpochDay((Integer) v).toString();
            case TIME_WITHOUT_TIME_ZONE:
                return time((Integer) v);
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                return timestamp((Timestamp) v, DataTypeChecks.getPrecision(type));
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return timestamp((Timestamp) v, DataTypeChecks.getPrecision(type)) + "Z";
            case DECIMAL:
                return ((Decimal) v).toBigDecimal().toPlainString();
            case FLOAT:
                return (double) (Float) v;
            case BINARY:
            case VARBINARY:
                return hex((byte[]) v);
            case ARRAY:
                return elements((InternalArray) v, ((ArrayType) type).getElementType());
            case MAP:
                return pairs((InternalMap) v, ((MapType) type).getKeyType(), ((MapType) type).getValueType());
            case MULTISET:
                return pairs((InternalMap) v, ((MultisetType) type).getElementType(), new IntType());
            case ROW:
                return object((InternalRow) v, (RowType) type);
            case VECTOR:
                return elements((InternalArray) v, ((VectorType) type).getElementType());
            case VARIANT:
                return variant((Variant) v);
            default:
                return other(v);
        }
    }

    private static Object other(Object v) {
        if (v instanceof Blob) {
            return hex(((Blob) v).toData());
        }
        return v instanceof Number || v instanceof Boolean ? v : v.toString();
    }

    private static Object variant(Variant v) {
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("value", hex(v.value()));
        out.put("metadata", hex(v.metadata()));
        out.put("json", v.toJson());
        return out;
    }

    private static List<Object> elements(InternalArray array, DataType type) {
        InternalArray.ElementGetter getter = InternalArray.createElementGetter(type.copy(true));
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < array.size(); i++) {
            out.add(value(getter.getElementOrNull(array, i), type));
        }
        return out;
    }

    private static List<Object> pairs(InternalMap map, DataType key, DataType val) {
        List<Object> keys = elements(map.keyArray(), key);
        List<Object> values = elements(map.valueArray(), val);
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            List<Object> pair = new ArrayList<>();
            pair.add(keys.get(i));
            pair.add(values.get(i));
            out.add(pair);
        }
        return out;
    }

    private static String time(int millis) {
        int s = millis / 1000;
        return String.format("%02d:%02d:%02d.%03d", s / 3600, s / 60 % 60, s % 60, millis % 1000);
    }

    static String timestamp(Timestamp t, int precision) {
        java.time.LocalDateTime at = t.toLocalDateTime();
        String text = at.toLocalDate() + String.format("T%02d:%02d:%02d", at.getHour(), at.getMinute(), at.getSecond());
        String fraction = String.format("%09d", at.getNano()).substring(0, precision);
        return precision == 0 ? text : text + "." + fraction;
    }

    static String hex(byte[] bytes) {
        StringBuilder out = new StringBuilder();
        for (byte b : bytes) {
            out.append(String.format("%02x", b));
        }
        return out.toString();
    }

    /** Text with one line for each member of the two outer levels, so that a diff shows what changed. */
    static String document(Map<String, ?> top) {
        StringBuilder out = new StringBuilder();
        lines(top, out, 2, "");
        return out.append('\n').toString();
    }

    private static void lines(Object v, StringBuilder out, int depth, String indent) {
        boolean map = v instanceof Map;
        Collection<?> members = map ? ((Map<?, ?>) v).entrySet() : v instanceof List ? (List<?>) v : null;
        if (members == null || members.isEmpty() || depth == 0) {
            write(v, out);
            return;
        }
        out.append(map ? "{" : "[");
        Iterator<?> each = members.iterator();
        while (each.hasNext()) {
            Object member = each.next();
            out.append('\n').append(indent).append(' ');
            if (map) {
                Map.Entry<?, ?> entry = (Map.Entry<?, ?>) member;
                write(entry.getKey(), out);
                lines(entry.getValue(), out.append(": "), depth - 1, indent + " ");
            } else {
                lines(member, out, 0, indent);
            }
            out.append(each.hasNext() ? "," : "");
        }
        out.append('\n').append(indent).append(map ? "}" : "]");
    }

    private static void write(Object v, StringBuilder out) {
        if (v instanceof Map) {
            String separator = "{";
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) v).entrySet()) {
                write(String.valueOf(entry.getKey()), out.append(separator));
                write(entry.getValue(), out.append(": "));
                separator = ", ";
            }
            out.append(separator.equals("{") ? "{}" : "}");
        } else if (v instanceof List) {
            String separator = "[";
            for (Object member : (List<?>) v) {
                write(member, out.append(separator));
                separator = ", ";
            }
            out.append(separator.equals("[") ? "[]" : "]");
        } else if (v instanceof Double && !Double.isFinite((Double) v)) {
            write(v.toString(), out);
        } else if (v == null || v instanceof Raw || v instanceof Number || v instanceof Boolean) {
            out.append(v);
        } else {
            quote(v.toString(), out);
        }
    }

    private static void quote(String s, StringBuilder out) {
        out.append('"');
        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20 || c > 0x7e) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
