import type { Reply } from '../http.ts'
import { type Sandbox, tradeLink } from '../sandbox.ts'
import { findAccount } from '../world/world.ts'
import { linkRow, missing, page, person } from './layout.ts'

/** A person's trade link, like Steam's page at the same address. */
export function tradeSettingsPage({ world }: Sandbox, steamId: string): Reply {
  const account = findAccount(world(), steamId)
  if (account?.kind !== 'shopper') return missing('There is no such profile.')
  return page(
    'Who can send me trade offers?',
    `<h1>Who can send me trade offers?</h1>${person(account)}
<h2>Friends</h2><p>Anybody on your friends list can send you trade offers.</p>
<h2>Third-party sites</h2><p>A site with this link can send you trade offers, too. It gives no access to your account.</p>
${linkRow(tradeLink(account), account.name)}`,
  )
}
