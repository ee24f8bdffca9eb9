import type { z } from 'zod'
import type { OperatorRole } from '../../contract/operators.ts'
import { type ActDeps, type Answer, type FindDeps, refused } from '../operations/operation.ts'

export type Call = {
  role: OperatorRole
  /** Whether the call needs a recent passkey check. */
  needsFreshCheck: boolean
  run(deps: ActDeps, input: unknown): Promise<Answer<unknown>>
}

/** A call that only reads, which every role may make. */
export function find<INPUT>(
  input: z.ZodType<INPUT>,
  run: (deps: FindDeps, input: INPUT) => Promise<Answer<unknown>>,
): Call {
  return { role: 'viewer', needsFreshCheck: false, run: withParsedInput(input, run) }
}

/** An act that the role `support` can do, such as pausing a bot or denying a shopper. */
export function supportAct<INPUT>(
  input: z.ZodType<INPUT>,
  run: (deps: ActDeps, input: INPUT) => Promise<Answer<unknown>>,
): Call {
  return { role: 'support', needsFreshCheck: false, run: withParsedInput(input, run) }
}

/** An act of the role `operator`, such as one that moves money or items, or concerns stores, keys or limits. */
export function seriousAct<INPUT>(
  input: z.ZodType<INPUT>,
  run: (deps: ActDeps, input: INPUT) => Promise<Answer<unknown>>,
): Call {
  return { role: 'operator', needsFreshCheck: true, run: withParsedInput(input, run) }
}

function withParsedInput<INPUT>(
  schema: z.ZodType<INPUT>,
  run: (deps: ActDeps, input: INPUT) => Promise<Answer<unknown>>,
): Call['run'] {
  return async (deps, input) => {
    const parsed = schema.safeParse(input)
    if (parsed.success) return run(deps, parsed.data)
    const [issue] = parsed.error.issues
    const where = issue?.path.join('.') ?? ''
    return refused('usage', `${where === '' ? 'The call' : where}: ${issue?.message ?? 'is malformed'}`)
  }
}
