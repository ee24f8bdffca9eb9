/** A proof for the command `npm run prove`: its options, and how to run it. */
import { z } from 'zod'

export type Result = {
  name: string
  content: Record<string, unknown>
  /** True if the file also keeps the results of earlier runs, such as runs with different seeds. */
  isOneOfMany?: boolean
}

export type Finding = {
  /** False if the proof found a problem. Only a few proofs count slowness as one (docs/proofs.md). */
  passed: boolean
  /** Name and content of the file that `--keep` writes; absent if there is nothing to keep. */
  result?: Result
}

export type Proof = {
  options: z.ZodObject
  /** `given`: the options from the command line, before `options` parses them. */
  run(given: Record<string, unknown>): Promise<Finding>
}

/** Every proof has the option `keep`. */
type Options = z.ZodObject<{ keep: z.ZodType<boolean> } & z.core.$ZodLooseShape>

type Definition<S extends Options> = { options: S; run(options: z.infer<S>): Promise<Finding> }

export function defineProof<S extends Options>({ options, run }: Definition<S>): Proof {
  return { options, run: (given) => run(options.parse(given)) }
}

/** Thrown if the command cannot do what was asked. The message explains why. */
export class Refusal extends Error {}

const wholeNumber = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be a whole number of 1 or more')
  .transform(Number)

/** An option that is a whole number of 1 or more, and `byDefault` if it is left out. */
export const count = (byDefault: number, about: string) =>
  wholeNumber.default(byDefault).describe(`${about} (${byDefault})`)

/** An option that is a whole number of 1 or more, without a default. */
export const maybeCount = (about: string) => wholeNumber.optional().describe(about)

/** An option without a value. */
export const flag = (about: string) => z.boolean().default(false).describe(about)

export const keepFlag = () => flag('write the result into proofs/results; needs a clean git tree')
