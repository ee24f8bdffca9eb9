/** `approve`: a person at the vault approves the return of items to their sender. */
import { saveApproval } from '../files/approvals.ts'
import { openFolder } from '../files/folder.ts'
import { openKey } from '../files/key.ts'
import { partnerOfLink } from '../files/trade-link.ts'
import type { Settings } from '../settings.ts'
import { Refusal, type Terminal } from '../terminal.ts'
import { openDatabase } from '../till-database.ts'
import { wishesIn } from '../wishes/store.ts'

export async function approve(
  settings: Settings,
  terminal: Terminal,
  { wishId, link }: { wishId: string; link: string },
): Promise<void> {
  const partner = partnerOfLink(link)
  if (partner === undefined) throw new Refusal('--link must be a trade link, with partner and token.')
  if (settings.databaseUrl === undefined) throw new Refusal('Set TRADETILL_VAULT_DATABASE_URL.')
  const database = openDatabase(settings.databaseUrl)
  const wishes = wishesIn(database.query, () => new Date())
  try {
    const wish = await wishes.find(wishId)
    if (wish === undefined || wish.ask.kind !== 'return') {
      throw new Refusal(`There is no open wish ${wishId} to give items back.`)
    }
    const { assets } = wish
    terminal.print(`Wish ${wishId} gives these items of ${wish.fromSteamId} to ${partner.steamId}:`)
    for (const { appId, assetId } of assets) terminal.print(`  ${appId}/${assetId}`)
    const answer = await terminal.ask(
      'The vault gives them back only if Steam confirms that this account sent them. Type yes to approve',
    )
    if (answer.trim() !== 'yes') throw new Refusal('Nothing was approved.')
    const folder = openFolder(settings.folder)
    saveApproval(folder, openKey(folder), { wishId, approval: { partner, assets } })
    // No Steam session is open here, and what the database says about the sender proves nothing.
    terminal.print(
      `Wish ${wishId} is approved. Before the vault gives the items back, it asks Steam who sent them, and refuses the wish if it was not ${partner.steamId}.`,
    )
  } finally {
    await database.close()
  }
}
