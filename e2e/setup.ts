import { findChromium } from '../scripts/chromium.ts'
import { buildWidgetIfChanged } from '../scripts/widget.ts'

/** Before the first journey: a browser and a fresh widget. */
export default async function setup(): Promise<void> {
  process.env.CHROMIUM_PATH = findChromium()
  await buildWidgetIfChanged()
}
