import type { LoginWay } from '../steam/web/enrol.ts'
import type { Terminal } from './terminal.ts'

const SHARED_SECRET = /^[A-Za-z0-9+/]{27}=$/

/** Asks for the credentials of a Steam account, without showing secrets. Asks for a code only if `logIn` wants one. */
export async function byPassword<T>(
  terminal: Pick<Terminal, 'openQuestions'>,
  logIn: (way: LoginWay) => Promise<T>,
): Promise<T> {
  const { authenticatorCode } = await import('../steam/web/authenticator.ts')
  const questions = terminal.openQuestions()
  try {
    return await logIn({
      kind: 'password',
      accountName: (await questions.ask('Account name: ')).trim(),
      password: await questions.ask('Password: ', { hidden: true }),
      async code() {
        const question = 'Code of the authenticator, or its shared secret: '
        const typed = await questions.ask(question, { hidden: true })
        return SHARED_SECRET.test(typed.trim()) ? authenticatorCode(typed.trim()) : typed
      },
    })
  } finally {
    questions.close()
  }
}
