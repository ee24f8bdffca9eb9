/** The type of an operation's answer after its conversion to JSON: see gateway/operations/json.ts. */
export type Json<T> = T extends Date | bigint
  ? string
  : T extends readonly (infer EACH)[]
    ? Json<EACH>[]
    : T extends object
      ? {
          [KEY in keyof T]: KEY extends `${string}${'Minor' | 'Micros'}` ? Amount<T[KEY]> : Json<T[KEY]>
        }
      : T

/** Amounts arrive as numbers. */
type Amount<T> = T extends bigint ? number : Json<T>
