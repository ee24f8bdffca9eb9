import type { Reply } from '../http.ts'
import { lineOfShopper } from '../routes/lines.ts'
import { type Sandbox, tradeLink } from '../sandbox.ts'
import type { Account } from '../world/world.ts'
import { escapeHtml } from './html.ts'
import { htmlOfLine, linkRow, page, person } from './layout.ts'

/** The start page: the shoppers, and the test shoppers, each with a behaviour or a bad day of Steam. */
export function home({ world }: Sandbox): Reply {
  const shoppers = world().accounts.filter(({ kind, isGuest }) => kind === 'shopper' && !isGuest)
  const cards = shoppers.filter(({ behaviour }) => !behaviour).map(shopperCard)
  const magic = shoppers.filter(({ behaviour }) => behaviour).map(magicCard)
  return page(
    'Steam sandbox',
    `<h1>Shoppers</h1><p>Copy a trade link and paste it into the deposit page: you then pay as that shopper.</p>
${cards.join('')}<h2>Test shoppers</h2><p>Each of these shoppers behaves in its own way, or makes Steam fail in its own way.</p>
<div class="magic">${magic.join('')}</div>`,
  )
}

function shopperCard(account: Account): string {
  return `<section class="card">${person(account)}<p>${htmlOfLine(lineOfShopper(account))}</p>${linkRow(tradeLink(account), account.name)}</section>`
}

function magicCard(account: Account): string {
  return `<section class="card"><h3><a href="/profiles/${account.steamId}/">${escapeHtml(account.name)}</a></h3>
<p>${htmlOfLine(lineOfShopper(account))}</p>${linkRow(tradeLink(account), account.name)}</section>`
}
