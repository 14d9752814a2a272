"""Sentences of daily life and of work on software, made from patterns written for this purpose, with questions they answer.

The packages' texts explain words and programs; what people tell an assistant about themselves is not in them. The
patterns say little; what the words in them mean to each other is what the teacher is asked for.
"""

import random
import re
from collections.abc import Iterator

POOLS_TEXT = """
name: Anna Ben Carla David Emma Felix Grace Hannah Ivan Julia Kevin Laura Martin Nina Oscar Paula Quentin Rosa Samuel Tara Uma Victor Wendy Yusuf Zoe Alice Bob Priya Omar Mei Chen Fatima Diego Sofia Liam Noah Olivia Ethan Mia Lucas Amelia Henry Ella Jack Sarah Tom Rachel Mark Lisa Peter Maria George Helen Paul Susan Michael Karen James Linda Robert Daniel Rebecca Matthew Jessica Andrew Amy Chris Megan Ryan Natalie Tyler Brianna Marcus Tina Greg Diana Steve Monica Alex Jordan Taylor Morgan Casey Riley
relative: mother|father|mom|dad|sister|brother|grandmother|grandfather|grandma|grandpa|aunt|uncle|cousin|niece|nephew|wife|husband|daughter|son|partner|girlfriend|boyfriend|fiancee|mother-in-law|stepfather|kids|children|parents|twins|best friend|roommate|neighbour|neighbor|boss|manager|colleague|coworker|mentor|teacher|coach|therapist|doctor|landlord
hobby: painting|drawing|photography|gardening|baking|cooking|knitting|sewing|crochet|woodworking|hiking|camping|fishing|kayaking|surfing|swimming|running|cycling|yoga|meditation|rock climbing|skiing|snowboarding|skateboarding|dancing|salsa dancing|ballet|singing|songwriting|playing the guitar|playing the piano|playing the violin|playing the drums|playing chess|board games|video games|reading novels|writing poetry|writing short stories|journaling|blogging|birdwatching|astronomy|beekeeping|volunteering|martial arts|karate|boxing|weightlifting|basketball|soccer|tennis|volleyball|golf|horse riding|calligraphy|origami|collecting stamps|collecting vinyl records|restoring old furniture|home brewing|stand-up comedy|acting|theatre|film making|watching anime|scrapbooking|jewelry making|soap making|quilting|model trains|coding side projects|learning languages
food: pizza|pasta|lasagna|sushi|ramen|tacos|burritos|curry|fried rice|dumplings|salad|soup|grilled chicken|roast beef|salmon|shrimp|tofu|lentils|beans|pancakes|waffles|omelette|bread|sourdough|bagels|croissants|cheesecake|chocolate cake|apple pie|brownies|cookies|ice cream|fruit smoothie|strawberries|mangoes|avocado toast|oatmeal|yogurt|cheese|mushrooms|eggplant|sweet potatoes|hummus|falafel|kebab|barbecue ribs|hamburgers|steak|noodles|seafood
drink: coffee|espresso|green tea|black tea|herbal tea|red wine|white wine|craft beer|whisky|orange juice|lemonade|hot chocolate|sparkling water|oat milk latte|kombucha
allergy: peanuts|tree nuts|shellfish|gluten|dairy|lactose|eggs|soy|pollen|cats|dogs|dust|penicillin|bee stings|latex|strawberries|sesame
pet: dog|puppy|cat|kitten|rabbit|hamster|guinea pig|parrot|goldfish|turtle|horse|golden retriever|labrador|poodle|husky|beagle|tabby cat|snake|lizard|ferret|chickens
job: software engineer|data scientist|nurse|doctor|surgeon|dentist|pharmacist|teacher|professor|librarian|lawyer|accountant|architect|civil engineer|mechanic|electrician|plumber|carpenter|chef|baker|waiter|barista|journalist|editor|graphic designer|photographer|musician|actor|film director|social worker|optician|psychologist|firefighter|police officer|pilot|flight attendant|truck driver|farmer|gardener|hairdresser|personal trainer|marketing manager|product manager|project manager|sales representative|real estate agent|bank clerk|entrepreneur|researcher|biologist|chemist|veterinarian|translator|security guard|shop owner|startup founder
subject: biology|chemistry|physics|mathematics|history|literature|philosophy|psychology|economics|law|medicine|nursing|engineering|computer science|graphic design|music|art|education|political science|sociology|environmental science|business administration|marketing|linguistics|astronomy|architecture|journalism|theology|data analysis|Spanish|French|Japanese|German|Mandarin|sign language
place: Paris|London|Rome|Berlin|Tokyo|Kyoto|New York|Chicago|Seattle|San Francisco|Los Angeles|Toronto|Vancouver|Mexico City|Barcelona|Lisbon|Amsterdam|Vienna|Prague|Istanbul|Cairo|Nairobi|Cape Town|Mumbai|Delhi|Bangkok|Singapore|Sydney|Auckland|Hawaii|Iceland|Norway|Sweden|Ireland|Scotland|Italy|Spain|Portugal|Greece|Brazil|Argentina|Peru|Costa Rica|Canada|Japan|Korea|Vietnam|Thailand|India|Morocco|Texas|Florida|Boston|Denver|Austin|the mountains|the beach|the countryside|a national park|the lake|the desert|a small village
event: wedding|birthday party|graduation|funeral|baby shower|concert|music festival|art exhibition|marathon|conference|workshop|school play|family reunion|housewarming party|job interview|barbecue|picnic|road trip|camping trip|book club meeting|street parade|anniversary dinner|football match|basketball tournament|spelling contest|science fair|farmers market|flea market|fundraiser|museum visit|cooking class|language class|yoga retreat|game night|movie night|church service|political campaign|town hall meeting
feeling: happy|sad|excited|nervous|anxious|proud|grateful|lonely|stressed|overwhelmed|relieved|angry|frustrated|disappointed|hopeful|inspired|peaceful|tired|burned out|confident|embarrassed|jealous|scared|curious|homesick|calm|motivated|guilty|surprised|thankful
health: a cold|the flu|a headache|migraines|back pain|a broken arm|a sprained ankle|a knee injury|high blood pressure|diabetes|asthma|insomnia|depression|anxiety|a toothache|surgery|a food allergy|hay fever|a stomach ache|arthritis|a concussion|an eye infection|pregnancy|cancer treatment|physical therapy
thing: car|bicycle|motorcycle|house|apartment|laptop|phone|camera|guitar|piano|violin|couch|dining table|bookshelf|washing machine|coffee machine|tent|backpack|running shoes|winter coat|dress|suit|necklace|ring|watch|painting|vase|mirror|blanket|quilt|lamp|garden shed|greenhouse|hammock|ladder|telescope|sewing machine|bread maker|headphones|television|game console|van|boat|kayak|surfboard|skis
book: a mystery novel|a fantasy series|a biography|a memoir|a science fiction novel|a cookbook|a poetry collection|a self-help book|a history book|a children's book|a comic book|a romance novel|a classic novel|a book about space|a book about habits
music: jazz|classical music|rock|heavy metal|hip hop|country music|folk|electronic music|pop|reggae|blues|opera|punk|soul|film soundtracks|Bach|Mozart|the Beatles
film: a romantic comedy|a documentary|a horror movie|a thriller|an action movie|a superhero film|an animated film|a detective series|a period drama|a cooking show|a reality show|a nature documentary|a fantasy trilogy|a science fiction series
goal: run a marathon|learn to play the piano|write a novel|open a bakery|start a business|buy a house|raise goats|get a promotion|lose weight|quit smoking|travel the world|learn Spanish|go back to school|become a pilot|save for retirement|pay off the mortgage|climb a mountain|build a cabin|start a family|become a nurse|volunteer abroad|publish a book|record an album|win the championship|find a new job|learn to swim|get a driving licence|start a podcast|open a flower shop|move to the coast|become a teacher
chore: the groceries|the laundry|the dishes|the taxes|the rent|the electricity bill|the insurance renewal|the dentist appointment|the car inspection|the lawn|the trash|the passport renewal|the school run|the vet appointment|the roof repair|the kitchen renovation|the leaking tap|the broken boiler
time: yesterday|last week|last month|last year|last summer|last Friday|two weeks ago|a few days ago|in January|in March|in June|in October|in 2019|in 2021|in 2023|this morning|over the weekend|on Tuesday|a year ago|ten years ago|when they were young|during the holidays|recently
future: tomorrow|next week|next month|next year|next summer|on Saturday|in two weeks|in the spring|in September|before Christmas|by the end of the year|soon
often: every morning|every day|once a week|twice a week|on weekends|every Sunday|in the evenings|before work|after dinner|on Fridays|every summer|once a month
gift: a necklace|a book|a handmade card|flowers|a scarf|a watch|a puppy|concert tickets|a painting|a bracelet|a set of knives|chocolates|a mug|a photo album|a guitar
why: it helps them relax|it reminds them of home|it brings the family together|it clears the head|it is good for the body|it makes them feel free|they wanted a change|the doctor recommended it|a friend inspired them|they had always dreamed of it|it was too expensive|they lost their job|it was raining|the children love it|it gives them confidence|they wanted to help others
quality: kind|patient|funny|stubborn|creative|shy|outgoing|generous|honest|ambitious|quiet|supportive|thoughtful|brave|disciplined|messy|punctual
lang: Python|Rust|Go|TypeScript|JavaScript|Java|Kotlin|C++|Ruby|Swift|SQL|Bash|PHP|Elixir|Haskell|C#
tool: git|docker|kubernetes|terraform|ansible|make|npm|pnpm|yarn|pip|uv|poetry|cargo|gradle|maven|webpack|vite|pytest|jest|mypy|ruff|eslint|prettier|pre-commit|GitHub Actions|Jenkins|GitLab CI|nginx|systemd|cron|celery|redis|kafka|rabbitmq|postgres|sqlite|mysql|mongodb|elasticsearch|grafana|prometheus|sentry|datadog|vim|emacs|VS Code|tmux|the linter|the formatter|the type checker|the debugger
artifact: the API|the web server|the frontend|the backend|the database|the schema|the migration|the test suite|the integration tests|the unit tests|the build|the pipeline|the deploy script|the staging environment|production|the release branch|the main branch|the changelog|the config file|the environment variables|the secrets|the access token|the API key|the password|the certificate|the cache|the queue|the worker|the scheduler|the cron job|the log files|the backups|the monitoring dashboard|the feature flags|the payment service|the login page|the search index|the mobile app|the command line tool|the SDK|the documentation|the README|the dependencies|the lock file|the virtual environment|the container image|the load balancer|the webhook|the rate limiter|the session store|the mail server|the firewall
devact: deploy|release|build|test|lint|format|review|merge|rebase|roll back|restart|debug|profile|benchmark|migrate|back up|restore|monitor|publish|tag|ship|configure|install|upgrade|downgrade|rotate|revoke|cache|seed|generate|refactor|rename|delete|document|package|sign
problem: fails with a timeout|runs out of memory|is slow|leaks connections|crashes on startup|returns a 500 error|hangs forever|breaks on Windows|is flaky|deadlocks|loses data|shows stale results|is missing an index|has a race condition|rejects valid input|sends duplicate emails|prints warnings|uses the wrong timezone|needs root permissions|is not thread safe
fix: increase the timeout|add an index|clear the cache|restart the service|pin the version|upgrade the library|run it twice|use a lock|retry with backoff|set the timezone to UTC|use a connection pool|raise the memory limit|delete the lock file|regenerate the certificate|run the migrations first|disable the feature flag|escape the quotes|use absolute paths|mock the network|check the logs
rule: use tabs, not spaces|keep lines under 100 characters|write tests first|never push to main|squash commits before merging|sign every commit|write docstrings in British English|avoid global state|prefer composition over inheritance|no emoji in commit messages|answer briefly|ask before deleting anything|explain the reasoning|use type hints everywhere|log in JSON|never commit secrets|two reviewers for every pull request|freeze releases on Fridays|run the linter before committing|keep functions short
"""

FRAMES_TEXT = """
{name} enjoys {hobby} {often} | {name} took up {hobby} {time} | I love {hobby}, {name}! | {name} says {hobby} is relaxing because {why} | My {relative} got me into {hobby} {time} | {name} signed up for a class in {hobby} ? What are {name}'s hobbies? ? What does {name} do in their free time? ? How does {name} relax? ? When did {name} start {hobby}? ? what do I like to do for fun
{name}'s favorite food is {food} | {name} cooked {food} for dinner {time} | We always make {food} {often} | I'm trying a new recipe for {food} tonight | {name} does not like {food} | My {relative} makes the best {food} ? What food does {name} like? ? What did {name} cook {time}? ? What is {name}'s favorite dish? ? what should I make for dinner
{name} is allergic to {allergy} | I can't eat {allergy} | My {relative} has an allergy to {allergy} | {name} follows a vegetarian diet | {name} is vegan and avoids {food} ? What is {name} allergic to? ? Does {name} have any dietary restrictions? ? what food should be avoided for my {relative}
{name} drinks {drink} {often} | I take my {drink} without sugar | {name} stopped drinking {drink} {time} ? What does {name} like to drink? ? how do I take my coffee
{name} has a {pet} named Max | {name} adopted a {pet} {time} | Our {pet} is so playful | The {pet} had to go to the vet {time} | I take the {pet} for a walk {often} | {name} lost a beloved {pet} {time} ? What pets does {name} have? ? When did {name} adopt a {pet}? ? What is the name of {name}'s {pet}? ? do we have animals
{name} works as a {job} | {name} got a new job as a {job} {time} | I used to be a {job} before moving to {place} | {name} quit working as a {job} because {why} | My {relative} is a {job} in {place} | {name} was promoted {time} ? What does {name} do for a living? ? What is {name}'s job? ? Where does {name} work? ? What career did {name} choose? ? Why did {name} leave the job?
{name} is studying {subject} at university | {name} graduated with a degree in {subject} {time} | I'm taking an online course in {subject} | {name} teaches {subject} | {name} has an exam in {subject} {future} ? What did {name} study? ? What is {name}'s degree? ? What field of education interests {name}? ? when is my exam
{name} lives in {place} with a {relative} | {name} moved to {place} {time} | I grew up in {place} | {name} bought an apartment in {place} {time} | {name} is originally from {place} ? Where does {name} live? ? Where is {name} from? ? When did {name} move to {place}? ? Which city is home?
{name} travelled to {place} {time} | We are planning a trip to {place} {future} | The view in {place} was breathtaking | {name} went to {place} with the family and loved it | {name} booked flights to {place} {future} | {name} took photos of {place} {time} ? Where did {name} go on vacation? ? When did {name} visit {place}? ? What are the travel plans for {future}? ? Which countries has {name} been to? ? where have I travelled
{name} went to a {event} {time} | {name} is organizing a {event} {future} | The {event} was so much fun, I met {name} there | I'm looking forward to the {event} {future} | {name} missed the {event} because {why} | {name} spoke at the {event} {time} ? When did {name} go to the {event}? ? What event did {name} attend {time}? ? What is happening {future}? ? Who was at the {event}? ? How did {name} feel about the {event}?
{name} felt {feeling} after the {event} | I've been feeling {feeling} lately | {name} is {feeling} about the new job | Talking to my {relative} made me feel {feeling} | That must have made you so {feeling}, {name} ? How does {name} feel? ? How did {name} feel after the {event}? ? What made {name} feel {feeling}? ? why am I {feeling}
{name} is recovering from {health} | {name} was diagnosed with {health} {time} | I've had {health} since {time} | {name} went to the hospital for {health} | My {relative} is dealing with {health} | {name} sleeps badly and sees a doctor {future} ? What health problems does {name} have? ? What happened to {name} {time}? ? When was {name} in hospital? ? is my {relative} well
{name} bought a new {thing} {time} | {name} sold the old {thing} | The {thing} broke {time} | I'm saving up for a {thing} | {name} made a {thing} by hand {time} | {name} repaired the {thing} with a {relative} ? What did {name} buy? ? When did {name} get the {thing}? ? What did {name} make? ? what broke recently
{name} is reading {book} | I just finished {book}, it was amazing | {name} recommended {book} to me | My {relative} gave me {book} ? What is {name} reading? ? What books does {name} like? ? Which book did {name} recommend?
{name} listens to {music} {often} | I went to see a band that plays {music} | {name} plays {music} in a band | {name} is a fan of {music} ? What music does {name} like? ? What kind of concert did {name} go to? ? Who is {name}'s favorite artist?
{name} watched {film} {time} | We saw {film} at the cinema with my {relative} | {name} can't stop watching {film} | My favorite movie is {film} ? What did {name} watch? ? What movies does {name} enjoy? ? which show am I watching
{name} wants to {goal} | {name}'s dream is to {goal} because {why} | I'm planning to {goal} {future} | {name} finally managed to {goal} {time} | {name} gave up the plan to {goal} ? What are {name}'s goals? ? What does {name} plan to do {future}? ? Why does {name} want to {goal}? ? What is {name}'s dream?
{name} has to take care of {chore} {future} | I forgot about {chore} again | {name} always does {chore} {often} | Remind me of {chore} {future} | {chore} costs 120 euros a month ? What does {name} need to do {future}? ? what must I not forget ? when is {chore} due? ? how much do we pay for {chore}
{name} gave a {relative} {gift} for the birthday | {name} received {gift} from a {relative} {time} | The {gift} from my {relative} means a lot to me ? What gift did {name} receive? ? What did {name} get for the birthday? ? Who gave {name} {gift}? ? gift ideas for my {relative}
{name}'s birthday is in March | {name} turned thirty {time} | {name} was born in {place} | {name} and {other} celebrate their anniversary {future} ? How old is {name}? ? When is {name}'s birthday? ? Where was {name} born? ? when is our anniversary
{name} married a {job} {time} | {name} is single | {name} got divorced {time} | {name} has three children | {name} met a {relative} at the {event} | {name} and {other} have been friends for ten years | {name} is expecting a baby {future} ? What is {name}'s relationship status? ? How many children does {name} have? ? How long have {name} and {other} known each other? ? Who is {name} married to?
{name} is a {quality} person | My {relative} is {quality} and always there for me | {name} describes {other} as {quality} | Thanks {name}, you are so {quality}! ? What is {name} like? ? What personality traits does {name} have? ? How would you describe {name}?
{name} started {hobby} because {why} | For {name}, {hobby} matters since {why} | {hobby} together with my {relative} {often} | {name} taught a {relative} {hobby} ? Why does {name} do {hobby}? ? What does {name} do with a {relative}? ? Who supports {name}?
{name} volunteers at a shelter {often} | {name} donated money to a charity {time} | {name} helps at the food bank {often} | {name} joined a choir {time} ? How does {name} help the community? ? What causes does {name} care about? ? When did {name} join the group?
{name} lost a job as a {job} {time} | {name} opened a shop in {place} {time} | {name} has a mortgage on the house ? What business did {name} start? ? What financial worries does {name} have? ? When did {name} lose the job?
Hello {name}, how are you doing | {name}, did you hear about the {event} | Congratulations on the {event}, {name} | Let's meet {future}, {name} | I'm sorry about the {thing}, {name} | {name} called {time} and asked about the {event} ? what did {name} say ? how is {name} ? when do we meet
We {devact} {artifact} with {tool} | {artifact} lives in a separate repository | Run {tool} before you {devact} {artifact} | To {devact} {artifact}, run `make {devact}` | {name} owns {artifact} | Only {name} may {devact} {artifact} ? How do I {devact} {artifact}? ? how do we {devact} ? Who is responsible for {artifact}? ? which command do I run to {devact} {artifact} ? where is {artifact}
{artifact} {problem} | {artifact} {problem}; to fix it, {fix} | When {tool} {problem}, {fix} | The bug was that {artifact} {problem}, so we had to {fix} | {name} found that {tool} {problem} {time} ? Why does {artifact} fail? ? what to do when {artifact} {problem} ? {tool} {problem} ? known problems with {artifact} ? how did we fix {artifact}
The project is written in {lang} | We moved from {lang} to {lang2} {time} | {artifact} uses {tool} and {lang} | We chose {tool} over {tool2} because {why} | {name} prefers {lang} for scripts ? What language is the project in? ? Why did we choose {tool}? ? what stack do we use ? which database do we use
The user prefers to {rule} | Please {rule} | In this repository we {rule} | {name} asked to {rule} {time} | Team agreement: {rule} ? What are the coding conventions? ? what style does {name} like ? how should I write commits ? what did the team agree on ? what are my preferences
{artifact} is at https://internal.example.com | The credentials for {artifact} are kept in the vault | {artifact} listens on port 8080 | {tool} needs version 3.11 or newer | {artifact} is backed up {often} ? What is the address of {artifact}? ? which port does {artifact} use ? where are the credentials ? which version of {tool} do we need ? when is {artifact} backed up
The deadline for {artifact} is {future} | The release of {artifact} is planned {future} | {name} works on {artifact} until {future} | The meeting about {artifact} is {often} | {artifact} was shipped {time} ? When is the deadline? ? when do we ship {artifact} ? who works on {artifact} ? what is planned {future} ? when is the meeting
"""


def pools() -> dict[str, list[str]]:
    found = {}
    for line in POOLS_TEXT.strip().splitlines():
        name, _, values = line.partition(": ")
        found[name] = values.split("|") if "|" in values else values.split()
    found |= {"other": found["name"], "lang2": found["lang"], "tool2": found["tool"]}
    return found


def pairs(count: int, rng: random.Random) -> Iterator[tuple[str, str]]:
    """A question and a note of the same frame, filled with the same words where both have the slot."""
    have = pools()
    frames = [[part.strip() for part in line.split("?")] for line in FRAMES_TEXT.strip().splitlines()]

    def filled(pattern: str, chosen: dict[str, str]) -> str:
        def value(found: re.Match[str]) -> str:
            slot = found[1]
            if slot not in chosen or rng.random() < 0.08:
                chosen[slot] = rng.choice(have[slot])
            return chosen[slot]

        text = re.sub(r"\{(\w+)\}", value, pattern)
        return text[0].upper() + text[1:] if rng.random() < 0.8 else text

    for _ in range(count):
        line = rng.choice(frames)
        notes = [part.strip() for part in line[0].split(" | ")]
        asked = [part for part in line[1:] if part]
        chosen: dict[str, str] = {}
        note = filled(rng.choice(notes), chosen) + "."
        question = filled(rng.choice(asked), chosen)
        if rng.random() < 0.75:
            question += "?"
        more = rng.random()
        if more < 0.3:
            note += " " + filled(rng.choice(notes), chosen) + "."
        elif more < 0.45:
            note = filled(rng.choice(rng.choice(frames)[0].split(" | ")).strip(), dict(chosen)) + ". " + note
        if rng.random() < 0.2:
            note = f"{rng.choice(have['name'])}: {note}"
        yield question, note


if __name__ == "__main__":
    for question, note in pairs(40, random.Random(3)):
        print(question, "=>", note)
