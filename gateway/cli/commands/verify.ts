/** `verify`: tests a store's webhook handler. */
import type { Answer } from '../../operations/operation.ts'
import { text, webAddress, wholeUpTo } from '../arguments.ts'
import { command, FIND, type FindFlags } from '../command.ts'
import type { Session } from '../session.ts'

type VerifyFlags = FindFlags & {
  secret?: string
  balance?: string
  customer: string
  till?: number
  open?: string
  only?: readonly string[]
}

export type Report = {
  url: string
  checks: { check: string; title: string; result: string; detail: string | null; document: string }[]
}

const OPTIONAL_URL = { kind: 'parsed', placeholder: 'URL', optional: true } as const

export const verify = command({
  does: "test a store's webhook handler with forged, repeated and out-of-order calls, and report its mistakes",
  example:
    'verify http://localhost:8080/webhooks/tradetill --secret whsec_dGhlIHNlY3JldCBvZiB0aGUgc3RvcmU= --customer nova',
  parameters: {
    flags: {
      secret: {
        kind: 'parsed',
        parse: text,
        brief: 'the secret with which the handler checks signatures; if missing, the command asks for it',
        placeholder: 'SECRET',
        optional: true,
      },
      balance: {
        ...OPTIONAL_URL,
        parse: text,
        brief:
          'a URL that returns the spendable balance in minor units; {CUSTOMER} is replaced by the name from --customer. Without this URL, no check passes: the best result is incomplete',
      },
      customer: {
        kind: 'parsed',
        parse: text,
        brief: 'customerReference of the deposits',
        placeholder: 'NAME',
        default: 'verify',
      },
      till: {
        kind: 'parsed',
        parse: wholeUpTo(65_535),
        brief: 'during the test, act as a till on this port, so the store can read an event log',
        placeholder: 'PORT',
        optional: true,
      },
      open: {
        ...OPTIONAL_URL,
        parse: text,
        brief:
          'a URL: a POST to it makes the store open a deposit at the till of --till; {CUSTOMER} is replaced by the name from --customer',
      },
      only: {
        kind: 'parsed',
        parse: text,
        brief: 'run only this check; can be given several times',
        placeholder: 'CHECK',
        optional: true,
        variadic: true,
      },
      ...FIND,
    },
    positional: {
      kind: 'tuple',
      parameters: [{ parse: webAddress, brief: 'the URL of the handler', placeholder: 'URL' }],
    },
  },
  load: async () => {
    const { checkHandler } = await import('../../operations/conformance.ts')
    return async ({ terminal }: Session, flags: VerifyFlags, url: URL): Promise<Answer<Report>> => {
      const { secret = await askSecret(terminal), balance, customer, till: tillPort, open, only } = flags
      return checkHandler({ url, secret, balance, customer, tillPort, open, only })
    }
  },
  lines: ({ checks }) =>
    checks.flatMap(({ check, title, result, detail, document }) => [
      `${result.padEnd(RESULT_WIDTH)}${check.padEnd(CHECK_WIDTH)}${title}`,
      ...(detail === null ? [] : [`${' '.repeat(RESULT_WIDTH + CHECK_WIDTH)}${detail}: see ${document}`]),
    ]),
})

const RESULT_WIDTH = 12
const CHECK_WIDTH = 18

async function askSecret(terminal: Session['terminal']): Promise<string> {
  const questions = terminal.openQuestions()
  const typed = await questions.ask('Webhook secret: ', { hidden: true })
  questions.close()
  return typed.trim()
}
