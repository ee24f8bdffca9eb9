/** `listen`: forwards a store's events to its developer's machine. */

import { MOST_SEQUENCE } from '../../../contract/limits.ts'
import type { ListenResult } from '../../operations/listening.ts'
import type { Answer } from '../../operations/operation.ts'
import { text, webAddress, wholeUpTo } from '../arguments.ts'
import { command, FIND, type FindFlags } from '../command.ts'
import type { Session } from '../session.ts'
import { printable } from '../terminal.ts'

type ListenFlags = FindFlags & {
  till: URL
  forwardTo: URL
  key?: string
  secret?: string
  after: number
  once?: boolean
}

export const listen = command({
  does: "forward a store's events, signed, to a URL of your own machine, until Ctrl-C",
  // Nothing listens on port 9, so help.test.ts can run the example.
  example:
    'listen --till http://127.0.0.1:9 --key tt_test_1 --forward-to http://localhost:8080/webhooks/tradetill --after 57',
  parameters: {
    flags: {
      till: { kind: 'parsed', parse: webAddress, brief: 'the URL of the till', placeholder: 'URL' },
      forwardTo: {
        kind: 'parsed',
        parse: webAddress,
        brief: 'the URL that receives the events',
        placeholder: 'URL',
      },
      key: {
        kind: 'parsed',
        parse: text,
        brief: "the store's API key, with deposits:read; if missing, the command asks for it",
        placeholder: 'KEY',
        optional: true,
      },
      secret: {
        kind: 'parsed',
        parse: text,
        brief: 'the secret with which the handler checks signatures; if missing, one is made and shown',
        placeholder: 'SECRET',
        optional: true,
      },
      after: {
        kind: 'parsed',
        parse: wholeUpTo(MOST_SEQUENCE),
        brief: 'number of the last event that you have; 0 sends the whole log',
        placeholder: 'SEQUENCE',
        default: '0',
      },
      once: { kind: 'boolean', brief: 'stop at the end of the log', optional: true, withNegated: false },
      ...FIND,
    },
  },
  load: async () => {
    const operations = await import('../../operations/listening.ts')
    return async ({ terminal }: Session, flags: ListenFlags): Promise<Answer<ListenResult>> => {
      const { till, forwardTo: to, key, secret, after, once = false } = flags
      const stop = new AbortController()
      const end = () => stop.abort()
      const apiKey = key ?? (await askKey(terminal))
      process.once('SIGINT', end)
      try {
        // The till at the other address may send any text.
        const say = (line: string) => terminal.warn(printable(line))
        return await operations.listen({ till, to, apiKey, secret, after, once, signal: stop.signal, say })
      } finally {
        process.removeListener('SIGINT', end)
      }
    }
  },
})

async function askKey(terminal: Session['terminal']): Promise<string> {
  const questions = terminal.openQuestions()
  const typed = await questions.ask('API key: ', { hidden: true })
  questions.close()
  return typed.trim()
}
