import { buildRouteMap } from '@stricli/core'
import { OPERATOR_ROLES, type OperatorRole } from '../../../contract/operators.ts'
import { text } from '../arguments.ts'
import {
  ACT,
  type ActFlags,
  command,
  FIND,
  type FindFlags,
  PREFIX,
  SERIOUS_ACT,
  type SeriousFlags,
} from '../command.ts'
import { linkLines, operatorLines } from '../operator-lines.ts'
import type { Session } from '../session.ts'

const NAME = { parse: text, brief: 'the name under which acts are recorded', placeholder: 'NAME' } as const
const ONE_NAME = { kind: 'tuple', parameters: [NAME] } as const

const add = command({
  does: 'add an operator of the console; prints a link that registers one passkey within 10 minutes',
  example: 'operator add nina --role support',
  parameters: {
    flags: {
      role: {
        kind: 'enum',
        values: OPERATOR_ROLES,
        brief:
          'viewer: only reads; support: also acts such as pausing bots, blocking prices and denying shoppers; operator: everything',
      },
      ...ACT,
    },
    positional: ONE_NAME,
  },
  load: async () => {
    const { addOperator } = await import('../../operations/operators.ts')
    return async (session: Session, { role, ...flags }: ActFlags & { role: OperatorRole }, name: string) =>
      addOperator(await session.actDeps(flags), { name, role })
  },
  lines: linkLines,
})

const link = command({
  does: 'print another link for an operator, such as for a second passkey; it replaces an unused link',
  example: 'operator link nina',
  parameters: { flags: ACT, positional: ONE_NAME },
  load: async () => {
    const { linkOperator } = await import('../../operations/operators.ts')
    return async (session: Session, flags: ActFlags, name: string) =>
      linkOperator(await session.actDeps(flags), name)
  },
  lines: linkLines,
})

const list = command({
  does: 'list the operators of the console, with their passkeys and sessions',
  example: 'operator list',
  parameters: { flags: FIND },
  load: async () => {
    const { listOperators } = await import('../../operations/operators.ts')
    return async (session: Session, _flags: FindFlags) => listOperators(await session.findDeps())
  },
  lines: operatorLines,
  ifEmpty: `No operators. Add one: ${PREFIX} operator add NAME --role operator`,
})

const remove = command({
  does: "end an operator's sessions, passkeys and link at once, and decline the open proposals that the operator made in the console or backed",
  example: "operator remove nina --reason 'left the firm'",
  parameters: { flags: SERIOUS_ACT, positional: ONE_NAME },
  load: async () => {
    const { dismissOperator } = await import('../../operations/operators.ts')
    return async (session: Session, flags: SeriousFlags, name: string) =>
      dismissOperator(await session.actDeps(flags), name)
  },
})

export const operator = buildRouteMap({
  routes: { add, link, list, remove },
  docs: { brief: 'who may use the console' },
})
