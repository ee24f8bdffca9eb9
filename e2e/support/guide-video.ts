/** Records the guide's clip in each language: how a shopper finds the trade link, shown in the sandbox. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { LANGUAGES, type Language } from '../../contract/languages.ts'
import { visit } from './browser.ts'
import { storeSecrets } from './demo-store.ts'
import { readPlayer } from './sandbox.ts'
import { TEXTS } from './shopper.ts'
import type { Till } from './till.ts'
import { type Frame, webmOf } from './webm.ts'
import { newDeposit } from './widget-calls.ts'

const FOLDER = join(import.meta.dirname, '../../widget/public')
const SIZE = { width: 800, height: 450 }
const FRAMES_A_SECOND = 10
/** Frames from one key frame to the next. */
const KEY_EVERY = 60
const BITS_A_SECOND = 60_000

type Point = { x: number; y: number }

/** A picture of the page, and the path of the pointer over it. */
type Shot = { picture: string; from: Point; to: Point; ms: number; isPressed: boolean }

/** A subtitle, shown until the next one begins. */
type Cue = { fromMs: number; text: string }

/** Hides banners, menus and footers, which would distract from the steps. */
const HIDDEN = '.banner, nav, footer, .sandbox-banner { display: none !important }'

/** Also hides the trade link on the sandbox's profile page, because Steam shows no trade link there. */
const HIDDEN_ON_PROFILE = `${HIDDEN} .link { display: none !important }`

function recorder(page: Page) {
  const shots: Shot[] = []
  const cues: Cue[] = []
  let pointer: Point = { x: SIZE.width * 0.75, y: SIZE.height * 0.8 }
  const lengthMs = (): number => shots.reduce((sum, { ms }) => sum + ms, 0)
  const shoot = async (to: Point, ms: number, isPressed = false): Promise<void> => {
    const picture = (await page.screenshot({ animations: 'disabled', caret: 'hide' })).toString('base64')
    shots.push({ picture, from: pointer, to, ms, isPressed })
    pointer = to
  }
  return {
    shots,
    cues,
    lengthMs,
    say: (text: string): void => void cues.push({ fromMs: lengthMs(), text }),
    rest: (ms: number): Promise<void> => shoot(pointer, ms),
    async press(target: Locator): Promise<void> {
      const box = await target.boundingBox()
      if (box === null) throw new Error('the element to press is not visible')
      const middle = { x: box.x + Math.min(box.width / 2, 120), y: box.y + box.height / 2 }
      await shoot(middle, 1500)
      await shoot(middle, 300, true)
      await target.click()
    },
  }
}

async function play(page: Page, till: Till, language: Language) {
  const texts = TEXTS[language]
  const steps = texts.guideSteps
  const { steamId, tradeUrl, name } = await readPlayer(till.sandbox)
  const film = recorder(page)
  const open = async (url: string, hidden = HIDDEN): Promise<void> => {
    await page.goto(url)
    await page.addStyleTag({ content: hidden })
  }
  await open(`${till.sandbox}/profiles/${steamId}/`, HIDDEN_ON_PROFILE)
  film.say(steps[0]?.text ?? '')
  await film.rest(2500)
  await film.press(page.getByRole('link', { name: 'Who can send me trade offers?' }))
  await page.waitForURL('**/tradeoffers/privacy')
  await page.addStyleTag({ content: HIDDEN })
  film.say(steps[1]?.text ?? '')
  await film.rest(2500)
  await film.press(page.getByRole('button', { name: 'Copy' }))
  await film.rest(1500)
  const { url } = await newDeposit(
    { place: till, secrets: await storeSecrets(till.root) },
    { language, shopper: { steamId, lock: true } },
  )
  await open(url)
  const field = page.getByRole('textbox', { name: texts.tradeLink })
  await field.waitFor()
  film.say(steps[2]?.text ?? '')
  await film.rest(1500)
  await film.press(field)
  await field.fill(tradeUrl)
  await film.rest(700)
  await page.getByRole('link', { name }).waitFor()
  await page.getByRole('gridcell').first().waitFor()
  await page.waitForLoadState('networkidle')
  await film.rest(3500)
  return film
}

type Encoded = { atMs: number; isKey: boolean; data: string }[]

/** Runs in a page: draws the pointer over the pictures, and has the browser encode them. */
async function encode({
  shots,
  size,
  fps,
  keyEvery,
  bitrate,
}: {
  shots: Shot[]
  size: typeof SIZE
  fps: number
  keyEvery: number
  bitrate: number
}): Promise<Encoded> {
  const encoded: Encoded = []
  const encoder = new VideoEncoder({
    output(chunk) {
      const bytes = new Uint8Array(chunk.byteLength)
      chunk.copyTo(bytes)
      const data = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
      encoded.push({ atMs: Math.round(chunk.timestamp / 1000), isKey: chunk.type === 'key', data })
    },
    error(error) {
      throw error
    },
  })
  encoder.configure({ codec: 'vp09.00.10.08', ...size, bitrate, framerate: fps })
  const canvas = new OffscreenCanvas(size.width, size.height)
  const drawing = canvas.getContext('2d')
  if (drawing === null) throw new Error('the browser has no 2D canvas')
  let drawn = 0
  for (const { picture, from, to, ms, isPressed } of shots) {
    const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0))
    const image = await createImageBitmap(new Blob([bytes]))
    const frames = Math.round((ms / 1000) * fps)
    for (let index = 0; index < frames; index += 1) {
      // The pointer slows down as it arrives.
      const share = 1 - (1 - (index + 1) / frames) ** 3
      const [x, y] = [from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share]
      drawing.drawImage(image, 0, 0)
      if (isPressed) {
        drawing.fillStyle = 'rgb(61 220 132 / 40%)'
        drawing.beginPath()
        drawing.arc(x, y, 22, 0, 2 * Math.PI)
        drawing.fill()
      }
      drawing.translate(x, y)
      const arrow = new Path2D('M0 0v22l5.5-5 3.5 8 4-1.800-3.500-7.700h7.500z')
      drawing.fillStyle = '#fff'
      drawing.strokeStyle = '#000'
      drawing.lineWidth = 1.5
      drawing.fill(arrow)
      drawing.stroke(arrow)
      drawing.resetTransform()
      const frame = new VideoFrame(canvas, { timestamp: (drawn * 1_000_000) / fps })
      encoder.encode(frame, { keyFrame: drawn % keyEvery === 0 })
      frame.close()
      drawn += 1
    }
  }
  await encoder.flush()
  return encoded
}

const stamp = (ms: number): string => new Date(ms).toISOString().slice(11, 23)

function subtitles(cues: Cue[], durationMs: number): string {
  const cueBlocks = cues.map(({ fromMs, text }, index) => {
    const untilMs = cues[index + 1]?.fromMs ?? durationMs
    return `${stamp(fromMs)} --> ${stamp(untilMs)}\n${text}\n`
  })
  return `WEBVTT\n\n${cueBlocks.join('\n')}`
}

export async function recordGuide(browser: Browser, till: Till): Promise<void> {
  for (const language of LANGUAGES) {
    const { page, context, end } = await visit(browser, SIZE, { colorScheme: 'dark', bypassCSP: true })
    await context.grantPermissions(['clipboard-write'])
    const film = await play(page, till, language)
    const encoded = await page.evaluate(encode, {
      shots: film.shots,
      size: SIZE,
      fps: FRAMES_A_SECOND,
      keyEvery: KEY_EVERY,
      bitrate: BITS_A_SECOND,
    })
    const frames: Frame[] = encoded.map(({ data, ...frame }) => ({
      ...frame,
      data: Buffer.from(data, 'base64'),
    }))
    const durationMs = film.lengthMs()
    const clip = webmOf({ ...SIZE, durationMs, frames })
    writeFileSync(join(FOLDER, `guide-${language}.webm`), clip)
    writeFileSync(join(FOLDER, `guide-${language}.vtt`), subtitles(film.cues, durationMs))
    console.log(`guide-${language}.webm: ${durationMs / 1000} s, ${Math.ceil(clip.length / 1024)} KB`)
    await end()
  }
}
