/** `npm run bench -- bytes`: what a shopper's browser must have before the page stands, gzipped, beside adyen-web. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { buildWidgetIfChanged } from '../scripts/widget.ts'
import { withPackage } from './npm-package.ts'
import type { Outcome } from './outcome.ts'

const LIMIT_KB = 95
const DIST = join(import.meta.dirname, '../widget/dist')
const ADYEN = '@adyen/adyen-web@6.45.2'

const gzipped = (file: string): number => gzipSync(readFileSync(file), { level: 9 }).length
const kb = (bytes: number): string => `${(bytes / 1024).toFixed(1)}KB`

export async function benchBytes(): Promise<Outcome> {
  await buildWidgetIfChanged()
  const page = join(DIST, 'index.html')
  const html = readFileSync(page, 'utf8')
  const files = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map(
    ([, path = '']) => path,
  )
  const english = gzipped(page) + files.reduce((sum, path) => sum + gzipped(join(DIST, path)), 0)
  const texts = readdirSync(join(DIST, 'assets')).filter((name) => /^page\.ru-.*\.js$/.test(name))
  if (texts.length !== 1) throw new Error('there must be one file of Russian texts')
  const russian = texts.reduce((sum, name) => sum + gzipped(join(DIST, 'assets', name)), english)
  console.log(`in English ${kb(english)}, in Russian ${kb(russian)}: the larger counts`)
  const ours = Math.max(english, russian)
  const outcome = { name: 'bytes', ours: kb(ours), limit: `<=${LIMIT_KB}KB`, passed: ours <= LIMIT_KB * 1024 }
  const theirs = await adyenBytes().catch((error: unknown) => {
    console.log(`${ADYEN} could not be built beside it: ${String(error).split('\n')[0]}`)
    return undefined
  })
  return theirs === undefined ? outcome : { ...outcome, floor: kb(theirs), ratio: ours / theirs }
}

/** The smallest page of theirs that takes a card, built with the same tool. */
function adyenBytes(): Promise<number> {
  return withPackage(ADYEN, async (folder) => {
    writeFileSync(
      join(folder, 'index.html'),
      '<div id="card"></div><script type="module" src="/main.js"></script>',
    )
    writeFileSync(
      join(folder, 'main.js'),
      `import { AdyenCheckout, Card } from '@adyen/adyen-web'
       import '@adyen/adyen-web/styles/adyen.css'
       new Card(await AdyenCheckout({ clientKey: 'test', environment: 'test' })).mount('#card')`,
    )
    await build({
      root: folder,
      logLevel: 'silent',
      build: { target: 'es2022', modulePreload: { polyfill: false } },
    })
    const html = readFileSync(join(folder, 'dist/index.html'), 'utf8')
    const first = readdirSync(join(folder, 'dist/assets')).filter((name) => html.includes(name))
    return first.reduce(
      (sum, name) => sum + gzipped(join(folder, 'dist/assets', name)),
      gzipped(join(folder, 'dist/index.html')),
    )
  })
}
