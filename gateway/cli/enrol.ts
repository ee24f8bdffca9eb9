/** `bot enrol`: asks the operator for the credentials. Typed text is neither shown nor kept. */
import type { AddedBot, Checking } from '../operations/enrolment.ts'
import type { ActDeps, Answer } from '../operations/operation.ts'
import type { LoginWay } from '../steam/web/enrol.ts'
import type { ActFlags } from './command.ts'
import type { Session } from './session.ts'

const SHARED_SECRET = /^[A-Za-z0-9+/]{27}=$/

export async function enrolByLogin(
  session: Session,
  { phone = false, checkWith, ...flags }: ActFlags & Checking & { phone?: boolean },
): Promise<Answer<AddedBot>> {
  const deps = await session.act(flags)
  if (!phone) return enrolByPassword(session, deps, { checkWith })
  const { qrCode } = await import('./qr-code.ts')
  // Written to stderr, because stdout is for the answer.
  const show = (address: string) =>
    session.terminal.warn(`Scan this with the bot's Steam app and approve:\n${qrCode(address)}\n  ${address}`)
  return enrol(deps, { kind: 'phone', show }, { checkWith })
}

async function enrolByPassword(
  { terminal }: Session,
  deps: ActDeps,
  checking: Checking,
): Promise<Answer<AddedBot>> {
  const { authenticatorCode } = await import('../steam/web/authenticator.ts')
  const questions = terminal.openQuestions()
  try {
    const way: LoginWay = {
      kind: 'password',
      accountName: (await questions.ask('Account name: ')).trim(),
      password: await questions.ask('Password: ', { hidden: true }),
      async code() {
        const question = 'Code of the authenticator, or its shared secret: '
        const typed = await questions.ask(question, { hidden: true })
        return SHARED_SECRET.test(typed.trim()) ? authenticatorCode(typed.trim()) : typed
      },
    }
    return await enrol(deps, way, checking)
  } finally {
    questions.close()
  }
}

async function enrol(deps: ActDeps, way: LoginWay, checking: Checking): Promise<Answer<AddedBot>> {
  const operations = await import('../operations/enrolment.ts')
  return operations.enrolByLogin(deps, way, { name: 'bot enrol', ...checking })
}
