/** A proof as the command `npm run prove` sees it: its options, and how to run it. */
import { z } from 'zod'

export type Result = {
  name: string
  content: Record<string, unknown>
  /** The file keeps each run beside those before it: a proof whose rounds take too long for one run. */
  isOneOfMany?: boolean
}

export type Finding = {
  /** Decided by what the proof found, never by how long it took. */
  passed: boolean
  /** Name and content of the file that `--keep` writes; absent when there is nothing to keep. */
  result?: Result
}

export type Proof = {
  options: z.ZodObject
  /** Takes options as `options` parsed them. */
  run(given: Record<string, unknown>): Promise<Finding>
}

/** Every proof has the option `keep`. */
type Options = z.ZodObject<{ keep: z.ZodType<boolean> } & z.core.$ZodLooseShape>

type Definition<S extends Options> = { options: S; run(options: z.infer<S>): Promise<Finding> }

export function defineProof<S extends Options>({ options, run }: Definition<S>): Proof {
  return { options, run: (given) => run(options.parse(given)) }
}

/** The command cannot do what was asked for. The message tells the person at the terminal why. */
export class Refusal extends Error {}

const wholeNumber = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be a whole number of 1 or more')
  .transform(Number)

/** An option that is a whole number of 1 or more: `standard` where none is given. */
export const count = (standard: number, about: string) =>
  wholeNumber.default(standard).describe(`${about} (${standard})`)

/** The same without a standard. */
export const maybeCount = (about: string) => wholeNumber.optional().describe(about)

/** An option that is there or not. */
export const flag = (about: string) => z.boolean().default(false).describe(about)

export const keepFlag = () => flag('write the result into proofs/results; needs a clean git tree')
