/** Numbers in the query of a call. */
import { z } from 'zod'

/** Reads only plain digits. `z.coerce` would also read `1e2`, and an empty text as 0. */
export const wholeNumber = ({ least, most, fallback }: { least: number; most: number; fallback: number }) =>
  z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,20}$/.test(value) ? Number(value) : value),
    z
      .int({ error: ({ code }) => (code === 'invalid_type' ? NOT_WHOLE : undefined) })
      .min(least)
      .max(most)
      // The default is set on the inner schema: zod leaves a default outside `preprocess` out of a request's JSON
      // schema.
      .default(fallback),
  )

const NOT_WHOLE = 'must be a whole number, such as 100'
