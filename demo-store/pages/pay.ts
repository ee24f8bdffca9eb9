/** The store's page that shows a deposit in a frame. */
import { TEXTS } from '../texts.ts'
import { drawer } from './home.ts'
import { escapeHtml, page } from './layout.ts'
import { type StoreView, topUpPart, walletPart } from './parts.ts'

/** The hash of the till's /embed/v1.js, copied from the store guide. The bytes of that file never change. */
const LOADER_INTEGRITY = 'sha384-jcLGppugooSNgOHl35l2yQwiybKnxCrztRx1vE4TB83IsrkRe6VmMxfR+0I31qEg'

type Pay = { view: StoreView; tillUrl: string; url: string; externalId: string }

export function payPage({ view, tillUrl, url, externalId }: Pay): string {
  const texts = TEXTS[view.visitor.language]
  const loader = `${new URL(tillUrl).origin}/embed/v1.js`
  return page({
    title: `${texts.payTitle} · Ember Forge`,
    visitor: view.visitor,
    head: `<script src="${escapeHtml(loader)}" integrity="${LOADER_INTEGRITY}" crossorigin="anonymous"></script>\n`,
    main: `<section class="pay" aria-labelledby="pay-title" data-paid="/?paid=${encodeURIComponent(externalId)}">
<h1 id="pay-title">${texts.payTitle}</h1>
<p class="quiet">${texts.payHint} <a href="${escapeHtml(url)}">${texts.payElsewhere}</a> · <a href="/">${texts.back}</a></p>
<div class="frame"><tradetill-deposit src="${escapeHtml(url)}"></tradetill-deposit></div></section>
<section class="card" aria-labelledby="balance-title"><h2 id="balance-title">${texts.available}</h2>${walletPart(view)}${topUpPart({ ...view, topUps: view.topUps.slice(0, 1) })}</section>
${drawer(view)}`,
  })
}
