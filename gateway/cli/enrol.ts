/** `bot enrol`: by the bot's phone, or by its credentials. */
import type { AddedBot, HoldCheck } from '../operations/enrolment.ts'
import type { ActDeps, Answer } from '../operations/operation.ts'
import type { LoginWay } from '../steam/web/enrol.ts'
import type { ActFlags } from './command.ts'
import type { Session } from './session.ts'

export async function enrolByLogin(
  session: Session,
  { phone = false, checkWith, ...flags }: ActFlags & HoldCheck & { phone?: boolean },
): Promise<Answer<AddedBot>> {
  const deps = await session.actDeps(flags)
  if (!phone) {
    const { byPassword } = await import('./password-login.ts')
    return byPassword(session.terminal, (way) => enrol(deps, way, { checkWith }))
  }
  const { qrCode, scanThis } = await import('./qr-code.ts')
  // Written to stderr, because stdout is for the answer.
  const show = (address: string, isReplacement: boolean) => {
    const request = `${scanThis(isReplacement)} with the bot's Steam app and approve:`
    session.terminal.warn(`${request}\n${qrCode(address)}\n  ${address}`)
  }
  return enrol(deps, { kind: 'phone', show }, { checkWith })
}

async function enrol(deps: ActDeps, way: LoginWay, holdCheck: HoldCheck): Promise<Answer<AddedBot>> {
  const operations = await import('../operations/enrolment.ts')
  return operations.enrolByLogin(deps, way, { name: 'bot enrol', ...holdCheck })
}
