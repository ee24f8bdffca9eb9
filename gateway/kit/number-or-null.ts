export const numberOrNull = (value: bigint | null): number | null => (value === null ? null : Number(value))
