/**
 * `npm run gallery` saves pictures of every scene, in both languages, on a desktop and a phone, in `.data/gallery`, and
 * the main ones in `e2e/gallery`. `-- --check` compares new main pictures with the stored ones. `-- NAME` takes only
 * the scenes whose names begin with NAME, `-- --main` only the main pictures. `-- --readme` saves the README's pictures
 * in `docs/images` instead, and `-- --video` the guide's clips in `widget/public`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import type { Language } from '../contract/languages.ts'
import { optionsOfProcess } from '../scripts/options.ts'
import { DESKTOP, launchBrowser, MOBILE, visit } from './support/browser.ts'
import { recordGuide } from './support/guide-video.ts'
import { baseOf, playScene } from './support/play-scene.ts'
import { eventually } from './support/process.ts'
import { takeReadmePictures } from './support/readme-pictures.ts'
import type { Base, Scene } from './support/scene.ts'
import { IN_ALL_LOOKS, SCENES } from './support/scenes.ts'
import { prepare } from './support/setup.ts'
import { endTill, startTill, type Till } from './support/till.ts'

const ALL_PICTURES = join(import.meta.dirname, '../.data/gallery')
const MAIN_PICTURES = join(import.meta.dirname, 'gallery')

/** Share of pixels that may differ: other machines draw fonts slightly differently. */
const MOST_DIFFERENCE = 0.01

type Look = { language: Language; viewport: typeof DESKTOP; scheme: 'dark' | 'light' | 'forced' }

const LOOKS: Look[] = [
  { language: 'en', viewport: DESKTOP, scheme: 'dark' },
  { language: 'en', viewport: MOBILE, scheme: 'light' },
  { language: 'ru', viewport: DESKTOP, scheme: 'light' },
  { language: 'ru', viewport: MOBILE, scheme: 'dark' },
]

const MAIN_SHOTS = [
  'guide-en-1440-dark',
  'guide-ru-390-dark',
  'inventory-en-1440-dark',
  'inventory-ru-1440-light',
  'inventory-ru-390-dark',
  'inventory-en-390-light',
  'inventory-hidden-en-1440-dark',
  'confirmation-en-1440-dark',
  'confirmation-ru-390-dark',
  'outcome-succeeded-en-1440-dark',
  'outcome-stolen-key-ru-390-dark',
  'help-en-1440-dark',
]

const nameOf = (scene: Scene, { language, viewport, scheme }: Look): string =>
  `${scene.name}-${language}-${viewport.width}-${scheme}`

/** The breakpoints of the layout, the narrowest page, a zoom of 400 %, and forced colours. */
const FURTHER_LOOKS: Look[] = [
  { language: 'en', viewport: { width: 1024, height: 768 }, scheme: 'light' },
  { language: 'ru', viewport: { width: 901, height: 768 }, scheme: 'dark' },
  { language: 'ru', viewport: { width: 900, height: 768 }, scheme: 'light' },
  { language: 'ru', viewport: { width: 430, height: 932 }, scheme: 'light' },
  { language: 'ru', viewport: { width: 320, height: 640 }, scheme: 'dark' },
  { language: 'en', viewport: { width: 320, height: 256 }, scheme: 'light' },
  { language: 'en', viewport: { width: 1280, height: 800 }, scheme: 'forced' },
]

type Running = { browser: Browser; till: Till; base: Base }

async function takePicture({ browser, till, base }: Running, scene: Scene, look: Look): Promise<Buffer> {
  const { page, end } = await visit(browser, look.viewport, {
    ...(look.scheme === 'forced' ? { forcedColors: 'active' } : { colorScheme: look.scheme }),
    timezoneId: 'UTC',
  })
  try {
    await playScene(page, { gateway: till.gateway, base, scene, language: look.language })
    await eventually('every visible picture has loaded', () =>
      page.evaluate(() =>
        [...document.images]
          .filter((image) => image.getBoundingClientRect().top < innerHeight)
          .every((image) => image.complete && image.naturalWidth > 0),
      ),
    )
    return await page.screenshot({ animations: 'disabled', caret: 'hide' })
  } finally {
    await end()
  }
}

/** Share of pixels that differ visibly, counted by the browser itself; 1 when the sizes differ. */
async function differenceOf(browser: Browser, before: Buffer, after: Buffer): Promise<number> {
  const page = await browser.newPage()
  try {
    return await page.evaluate(
      async (pictures) => {
        const [first, second] = await Promise.all(
          pictures.map(async (base64) => {
            const picture = await createImageBitmap(
              await (await fetch(`data:image/png;base64,${base64}`)).blob(),
            )
            const { width, height } = picture
            const drawing = new OffscreenCanvas(width, height).getContext('2d')
            drawing?.drawImage(picture, 0, 0)
            return { width, height, data: drawing?.getImageData(0, 0, width, height).data ?? [] }
          }),
        )
        if (first?.width !== second?.width || first?.height !== second?.height) return 1
        let differentPixels = 0
        const [a, b] = [first?.data ?? [], second?.data ?? []]
        for (let at = 0; at < a.length; at += 4) {
          const distance = [0, 1, 2].reduce(
            (sum, channel) => sum + Math.abs((a[at + channel] ?? 0) - (b[at + channel] ?? 0)),
            0,
          )
          // From black to white, the distance is 765. Up to 48, the eye hardly sees a difference.
          if (distance > 48) differentPixels += 1
        }
        return differentPixels / (a.length / 4)
      },
      [before.toString('base64'), after.toString('base64')],
    )
  } finally {
    await page.close()
  }
}

async function check(running: Running, name: string, picture: Buffer): Promise<boolean> {
  const difference = await differenceOf(
    running.browser,
    readFileSync(join(MAIN_PICTURES, `${name}.png`)),
    picture,
  )
  const isSame = difference <= MOST_DIFFERENCE
  console.log(
    `${isSame ? 'same     ' : 'DIFFERENT'} ${name} (${(difference * 100).toFixed(2)} % of its pixels)`,
  )
  return isSame
}

async function main(): Promise<void> {
  const options = optionsOfProcess({
    command: 'npm run gallery',
    flags: {
      main: 'takes only the main pictures',
      check: 'compares new main pictures with the stored ones, which it leaves alone',
      readme: 'takes the pictures of the README instead',
      video: 'records the clips of the guide instead',
    },
    others: 'NAME …',
  })
  for (const start of options.others) {
    if (!SCENES.some(({ name }) => name.startsWith(start))) throw new Error(`No scene begins with ${start}`)
  }
  await prepare()
  const till = await startTill()
  const browser = await launchBrowser()
  try {
    if (options.flags.has('readme')) await takeReadmePictures(browser, till)
    else if (options.flags.has('video')) await recordGuide(browser, till)
    else await takeScenes({ browser, till, base: await baseOf(till) }, options)
  } finally {
    await browser.close()
    await endTill(till)
  }
}

type Options = { flags: ReadonlySet<string>; others: string[] }

async function takeScenes(running: Running, { flags, others: wanted }: Options): Promise<void> {
  const isChecking = flags.has('check')
  const takesOnlyMain = isChecking || flags.has('main')
  for (const folder of [ALL_PICTURES, MAIN_PICTURES]) mkdirSync(folder, { recursive: true })
  for (const scene of SCENES) {
    if (wanted.length > 0 && !wanted.some((start) => scene.name.startsWith(start))) continue
    for (const look of IN_ALL_LOOKS.includes(scene.name) ? [...LOOKS, ...FURTHER_LOOKS] : LOOKS) {
      const name = nameOf(scene, look)
      const isMain = MAIN_SHOTS.includes(name)
      if (takesOnlyMain && !isMain) continue
      const picture = await takePicture(running, scene, look)
      writeFileSync(join(ALL_PICTURES, `${name}.png`), picture)
      if (isMain && !isChecking) writeFileSync(join(MAIN_PICTURES, `${name}.png`), picture)
      if (isChecking && !(await check(running, name, picture))) process.exitCode = 1
    }
  }
}

await main()
