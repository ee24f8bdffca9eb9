/** `bot renew`: shows a QR code for each bot and waits for its phone. */
import type { Answer } from '../operations/operation.ts'
import type { RenewedBots } from '../operations/renewal.ts'
import type { ActFlags } from './command.ts'
import type { Session } from './session.ts'
import { printable } from './terminal.ts'

export async function renewByPhone(
  session: Session,
  flags: ActFlags,
  idsOrSteamIds: readonly string[],
): Promise<Answer<RenewedBots>> {
  const [{ renewBots }, { qrCode, scanThis }] = await Promise.all([
    import('../operations/renewal.ts'),
    import('./qr-code.ts'),
  ])
  return renewBots(await session.actDeps(flags), {
    idsOrSteamIds,
    // Written to stderr, because stdout is for the answer.
    show({ botId, name, steamId }, { address, isReplacement }) {
      const who = `Bot ${botId}, ${printable(name)} (${steamId})`
      const request = `${scanThis(isReplacement)} with the Steam app of this account and approve.`
      session.terminal.warn(`${who}: ${request}`)
      session.terminal.warn(`${qrCode(address)}\n  ${address}\n`)
    },
  })
}
